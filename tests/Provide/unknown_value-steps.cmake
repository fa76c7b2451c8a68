call_provide(ask _cudaops_provide_wants TORCH DEFINE "-DCUDAOPS_PROVIDE=TOOLKIT,Torch")

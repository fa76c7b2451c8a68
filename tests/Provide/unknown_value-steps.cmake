call_provide(ask _cudaops_option CUDAOPS_PROVIDE DEFINE "-DCUDAOPS_PROVIDE=TOOLKIT,Torch")

use_plain_python()
call_provide(ask _cudaops_provide_torch)

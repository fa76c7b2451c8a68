case_environment("CUDA_HOME=/a b")
case_step(one COMMAND sh -c "exit 3")

import pytest
import torch


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", choices=["cpu", "cuda"])


def pytest_configure(config):
    # 77 is "skipped" for CTest; pytest itself ends with 0 where every test was skipped.
    if config.getoption("--device") == "cuda" and not torch.cuda.is_available():
        pytest.exit("torch sees no GPU", returncode=77)


@pytest.fixture
def device(request):
    return request.config.getoption("--device")

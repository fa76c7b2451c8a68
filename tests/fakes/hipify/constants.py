"""Stand-in for torch.utils.hipify.constants."""

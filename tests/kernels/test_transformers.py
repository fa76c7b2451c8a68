# SPDX-License-Identifier: Apache-2.0
"""patch() and register_attention() in Hugging Face's transformers: small models against transformers' own eager
attention. Skipped where transformers isn't installed."""

import copy
import importlib.util
import os
import pickle
import sys
import unittest
import warnings

from op_testing import skip_file

if importlib.util.find_spec("transformers") is None:
    skip_file("transformers is not installed")

from kernel_testing import kernels, main, normal, refusal  # noqa: E402
from kernel_testing import pytest_generate_tests  # noqa: E402, F401
from test_api import Watch  # noqa: E402

import torch  # noqa: E402
import transformers  # noqa: E402

WINDOW = 6
SHAPE = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "pad_token_id": 0,
}
FAMILIES = {
    "Llama": {},
    "Qwen2": {},
    "Qwen3": {},  # norms of q and k
    "Mistral": {"sliding_window": WINDOW},  # one mask, of a window, for all layers
    "Gemma2": {"sliding_window": WINDOW, "attn_logit_softcapping": 3.0, "query_pre_attn_scalar": 8},
    "Gemma3": {"sliding_window": WINDOW, "layer_types": ["sliding_attention", "full_attention"]},
    "GptOss": {"sliding_window": WINDOW, "num_local_experts": 2, "num_experts_per_tok": 1},  # sinks
}
LENGTH = 20
POSITIONS = [[*range(7), *range(13)], [*range(12), *range(8)]]
OFFSETS = [0, 7, 20, 32, 40]


# Of these only what patch() does is special.
EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1}
PATCHED = {"Gemma": {}, "Mixtral": EXPERTS, "Qwen3Moe": {"moe_intermediate_size": 24, **EXPERTS}}


def models(family, device, implementation="cudaops"):
    """With transformers' eager attention, and with ours."""
    name = "Gemma3Text" if family == "Gemma3" else family
    config = getattr(transformers, f"{name}Config")(**SHAPE, **(FAMILIES | PATCHED)[family])
    config._attn_implementation = "eager"
    torch.manual_seed(0)
    plain = getattr(transformers, f"{family}ForCausalLM")(config)
    with torch.no_grad():
        for seed, (name, param) in enumerate(plain.named_parameters()):
            # As they are made, attention hardly depends on its keys.
            param += normal(*param.shape, dtype=param.dtype, device="cpu", seed=seed) * 0.15
    kernels.register_attention()
    ours = copy.deepcopy(plain)
    ours.set_attn_implementation(implementation)
    return plain.to(device), ours.to(device)


def tokens(device, length=LENGTH):
    generator = torch.Generator().manual_seed(1)
    return torch.randint(1, SHAPE["vocab_size"], (2, length), generator=generator).to(device)


def padded(device, side):
    mask = torch.ones(2, LENGTH, dtype=torch.int64, device=device)
    mask[1, slice(0, 7) if side == "left" else slice(13, None)] = 0
    return mask


def close(a, b, case):
    torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4, msg=lambda text: f"{case}: {text}")


def logits_and_gradients(model, ids, mask, **arguments):
    """Of the tokens; padding's logits are nobody's."""
    labels = ids.masked_fill(mask == 0, -100)
    # The first token is predicted by the padding in front of it.
    labels[:, 1:] = labels[:, 1:].masked_fill(mask[:, :-1] == 0, -100)
    output = model.train()(ids, labels=labels, **arguments)
    model.zero_grad()
    output.loss.backward()
    return output.logits[mask == 1], {n: p.grad for n, p in model.named_parameters()}


def test_logits_and_gradients(device):
    ids, everything = tokens(device), torch.ones(2, LENGTH, device=device)
    situations = {"plain": {}, "packed": {"position_ids": torch.tensor(POSITIONS, device=device)}}
    for side in ("left", "right"):
        situations[side] = {"attention_mask": padded(device, side)}
    visible = torch.rand(2, 1, LENGTH, LENGTH, generator=torch.Generator().manual_seed(2)) < 0.5
    visible = (visible | torch.eye(LENGTH, dtype=torch.bool)).to(device)
    for family in FAMILIES:
        plain, ours = models(family, device)
        own = {"own mask": {"attention_mask": torch.where(visible, 0.0, -torch.inf)}}
        for name, arguments in (situations | own).items():
            mask = everything if name not in ("left", "right") else arguments["attention_mask"]
            wanted, wanted_grads = logits_and_gradients(plain, ids, mask, **arguments, use_cache=False)
            found, grads = logits_and_gradients(ours, ids, mask, **arguments, use_cache=False)
            close(found, wanted, (family, name))
            for param, grad in wanted_grads.items():
                if grad is not None:
                    close(grads[param], grad, (family, name, param))


ENCODER = {key: SHAPE[key] for key in ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads")}
SPECIAL = {f"{name}_token_id": i for i, name in enumerate(("pad", "bos", "eos", "cls", "sep"))}
CHUNKS = {"attention_chunk_size": WINDOW, "intermediate_size_mlp": 48, "num_local_experts": 2}
T5 = {"vocab_size": 64, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
# The model's class, its configuration's, and what is special about it.
OTHERS = (
    ("BertForMaskedLM", "BertConfig", ENCODER),  # all see all
    ("ModernBertForMaskedLM", "ModernBertConfig", ENCODER | SPECIAL | {"local_attention": WINDOW}),  # a window to both sides
    ("T5ForConditionalGeneration", "T5Config", T5),  # biases by positions; keys of another sequence
    ("UMT5ForConditionalGeneration", "UMT5Config", T5),  # layers that don't say that they are causal
    ("Llama4ForCausalLM", "Llama4TextConfig", SHAPE | CHUNKS),
    (
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        SHAPE | FAMILIES["Gemma3"] | {"use_bidirectional_attention": True},
    ),
)


def test_other_models(device):
    kernels.register_attention()
    ids = tokens(device)
    for model_name, config_name, options in OTHERS:
        kind = getattr(transformers, model_name)
        if not hasattr(sys.modules[kind.__module__], "ALL_ATTENTION_FUNCTIONS"):
            continue  # T5 of 5.4, whose attention is its own
        found = []
        for implementation in ("eager", "cudaops"):
            config = getattr(transformers, config_name)(**options, attn_implementation=implementation)
            torch.manual_seed(0)
            model = kind(config).eval()
            with torch.no_grad():
                for seed, param in enumerate(model.parameters()):
                    param += normal(*param.shape, dtype=param.dtype, device="cpu", seed=seed) * 0.15
            found.append(model.to(device))
        plain, ours = found
        for side in (None, "left", "right"):
            mask = torch.ones_like(ids) if side is None else padded(device, side)
            arguments = {"attention_mask": None if side is None else mask}
            if "T5" in model_name:
                arguments["decoder_input_ids"], mask = ids[:, :11], torch.ones_like(ids[:, :11])
            results = []
            for model in found:
                model.zero_grad()
                logits = model(ids, **arguments).logits[mask == 1]
                logits.square().mean().backward()
                results.append((logits, [p.grad for p in model.parameters() if p.grad is not None]))
            close(results[1][0], results[0][0], (model_name, side))
            for a, b in zip(results[1][1], results[0][1], strict=True):
                close(a, b, (model_name, side))
        if "T5" in model_name:
            for more in ({}, {"num_beams": 2}, {"cache_implementation": "static", "disable_compile": True}):
                options = {"attention_mask": padded(device, "right"), "max_new_tokens": 6, "min_new_tokens": 6, "do_sample": False}
                assert torch.equal(*(model.generate(ids, **options, **more) for model in found)), (model_name, more)


# By its names in most configurations.
SMALL = SHAPE | {
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size"), 24),
    **dict.fromkeys(("d_model", "n_embd"), 32),
    **dict.fromkeys(("d_ff", "ffn_dim", "n_inner", "ffn_hidden_size", "decoder_ffn_dim", "encoder_ffn_dim"), 48),
    **dict.fromkeys(("n_layer", "num_layers", "decoder_layers", "encoder_layers", "linear_num_key_heads"), 2),
    **dict.fromkeys(("n_head", "num_heads", "decoder_attention_heads", "encoder_attention_heads", "linear_num_value_heads"), 4),
    **dict.fromkeys(("d_kv", "linear_key_head_dim", "linear_value_head_dim"), 8),
    **dict.fromkeys(("bos_token_id", "eos_token_id", "first_k_dense_replace", "n_group", "topk_group"), 1),
    "max_position_embeddings": 128,
    "num_experts_per_tok": 2,
    "sliding_window": WINDOW,
}
MOST_PARAMETERS = 20_000_000
# Of heads of 512 elements, or with attention of their own.
REFUSALS = ("1 to 256 for q, k and v", "found one that reads it", "found sinks of shape")


def small_config(kind):
    known = kind().to_dict()
    options = {key: value for key, value in SMALL.items() if key in known}
    for key in ("layer_types", "mlp_layer_types"):
        if isinstance(known.get(key), list):
            options[key] = [known[key][0], known[key][-1]]
    config = kind(**options)
    config._attn_implementation = "eager"
    return config


def test_every_decoder(device):
    """All of transformers' that can be made small by those names, with our attention, and with patch()."""
    if os.environ.get("CUDAOPS_TEST_LONG", "0") in ("", "0"):
        raise unittest.SkipTest("CUDAOPS_TEST_LONG=1 runs it")
    kernels.register_attention()
    ids, left = tokens(device), padded(device, "left")
    same, refused = [], []
    for name in dir(transformers):
        if not name.endswith("ForCausalLM") or name.startswith("Auto"):
            continue
        try:
            kind = getattr(transformers, name)
            config = small_config(kind.config_class)
            with torch.device("meta"):
                size = sum(param.numel() for param in kind(copy.deepcopy(config)).parameters())
            if size > MOST_PARAMETERS:
                continue
            torch.manual_seed(0)
            plain = kind(config).to(device).eval()
            with torch.no_grad():
                for seed, param in enumerate(plain.parameters()):
                    param += normal(*param.shape, dtype=param.dtype, device=device, seed=seed) * 0.15
                wanted = plain(ids).logits, plain(ids, attention_mask=left).logits[left == 1]
        except Exception as error:
            print(f"{name} can't be made so: {type(error).__name__}")
            continue
        ours = copy.deepcopy(plain)
        ours.set_attn_implementation("cudaops")
        try:
            for step in (lambda model: model, kernels.patch):
                with torch.no_grad():
                    found = step(ours)(ids).logits, ours(ids, attention_mask=left).logits[left == 1]
                for a, b in zip(found, wanted):
                    error = ((a - b).abs().max() / b.abs().max()).item()
                    assert error < 1e-4, (name, step, error)
                same.append((name, step))
        except (AttributeError, NotImplementedError, ValueError) as error:
            if "patch: wanted a transformers model" in str(error):
                continue
            assert any(sentence in str(error) for sentence in REFUSALS), (name, error)
            refused.append(name)
    print(f"{len(same)} times eager's logits; refused: {refused}")
    assert len(same) > 100


def test_sequences_by_their_lengths(device):
    """cu_seq_lens_q, as DataCollatorWithFlattening makes them, against each sequence alone."""
    ids = tokens(device)
    positions = torch.tensor(POSITIONS, device=device).view(1, -1)
    offsets = torch.tensor(OFFSETS, dtype=torch.int32, device=device)
    lengths = {"cu_seq_lens_q": offsets, "cu_seq_lens_k": offsets, "max_length_q": 13, "max_length_k": 13}
    for family in FAMILIES:
        plain, ours = models(family, device)
        found = ours(ids.view(1, -1), position_ids=positions, use_cache=False, **lengths).logits[0]
        for begin, end in zip(OFFSETS, OFFSETS[1:]):
            wanted = plain(ids.view(1, -1)[:, begin:end], use_cache=False).logits[0]
            close(found[begin:end], wanted, (family, begin))


def test_no_mask_is_made(device):
    """Nothing of queries times keys, forward and backward, but for a mask of the user's own."""
    length = 256
    ids = tokens(device, length)
    right, left = (torch.ones(2, length, dtype=torch.int64, device=device) for _ in range(2))
    right[1, 200:] = left[1, :50] = 0
    packed = torch.arange(length, device=device).expand(2, -1) % 128
    for family in ("Llama", "Mistral", "Gemma2"):
        _, ours = models(family, device)
        for arguments in ({}, {"attention_mask": right}, {"attention_mask": left}, {"position_ids": packed}):
            with Watch() as watch:
                ours.train()(ids, use_cache=False, **arguments).logits.sum().backward()
            assert watch.largest < length * length, (family, list(arguments), watch.largest)
            op = "attention_varlen" if "position_ids" in arguments else "attention"
            assert op in watch.names and "scaled_dot_product_attention" not in watch.names


def test_generate(device):
    ids, left = tokens(device), padded(device, "left")
    situations = {
        "plain": {},
        "left": {"attention_mask": left},
        "static": {"cache_implementation": "static", "disable_compile": True},
        "left, static": {"attention_mask": left, "cache_implementation": "static", "disable_compile": True},
        "beams": {"num_beams": 3, "attention_mask": left},
    }
    for family in ("Qwen3", "Mistral", "Gemma3", "GptOss"):
        plain, ours = (model.eval() for model in models(family, device))
        for name, arguments in situations.items():
            # More tokens than the window holds.
            options = {"do_sample": False, "max_new_tokens": WINDOW + 2, "min_new_tokens": WINDOW + 2, **arguments}
            with Watch() as watch:
                found = ours.generate(ids, **options)
            assert torch.equal(found, plain.generate(ids, **options)), (family, name)
            if name in ("plain", "static"):
                assert "attention_decode" in watch.names, (family, name)


def test_other_arguments(device):
    _, ours = models("Llama", device)
    ids = tokens(device)
    ours.config.attention_dropout = 0.5
    for layer in ours.model.layers:
        layer.self_attn.attention_dropout = 0.5
    ours.train()
    torch.manual_seed(3)
    first, second = ours(ids).logits, ours(ids).logits
    torch.manual_seed(3)
    assert torch.equal(first, ours(ids).logits) and not torch.equal(first, second)
    # Under gradient checkpointing the same weights are dropped again.
    ours.zero_grad()
    torch.manual_seed(3)
    ours(ids).logits.square().mean().backward()
    wanted = [p.grad.clone() for p in ours.parameters()]
    ours.zero_grad()
    ours.gradient_checkpointing_enable()
    torch.manual_seed(3)
    ours(ids, use_cache=False).logits.square().mean().backward()
    for param, grad in zip(ours.parameters(), wanted):
        close(param.grad, grad, "checkpointing")


def test_weights_of_attention_are_not_given(device):
    _, ours = models("Llama", device)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ours(tokens(device))
        assert not found
        # A sequence, of one for each layer with eager attention.
        assert not ours(tokens(device), output_attentions=True).attentions
    assert "wanted output_attentions=False" in str(found[0].message) and "Fix:" in str(found[0].message)


def test_models_with_attention_of_their_own_are_refused(device):
    """Those that read their mask (BigBird-Pegasus, T5Gemma 2, Doge), and a sink for each query (Inkling 2)."""
    _, ours = models("Llama", device)
    masks = []
    ours.model.layers[0].register_forward_pre_hook(lambda _, args, given: masks.append(given["attention_mask"]), with_kwargs=True)
    q = ours(tokens(device), use_cache=False, output_hidden_states=True).hidden_states[0].view(2, 4, LENGTH, 8)
    for how, read in (
        ("add(mask)", lambda mask: q + mask),
        ("cat(mask)", lambda mask: torch.cat((mask, mask))),
        ("mask[...]", lambda mask: mask[:, :, :, :4]),
        ("mask.dtype", lambda mask: mask.dtype),
    ):
        try:
            read(masks[0])
        except (AttributeError, NotImplementedError) as error:
            assert f"found one that reads it ({how}). Fix: " in str(error), error
        else:
            raise AssertionError(how)
    attention = transformers.AttentionInterface()["cudaops"]
    sinks = torch.zeros(2, 4, LENGTH, 1, device=device)
    assert "found sinks of shape [2, 4, 20, 1]" in refusal(lambda: attention(ours, q, q, q, None, sinks=sinks))


def compiled_once(model, whole):
    """In as few graphs as there are; on the CPU without C++ code, which takes a minute to compile."""
    torch._dynamo.reset()
    model = copy.deepcopy(model)
    if whole:
        model.forward = torch.compile(model.forward, backend="aot_eager", fullgraph=True)
    else:
        for layer in model.model.layers:
            layer.compile(backend="aot_eager", fullgraph=True)
    return model


def test_compiled(device):
    ids, left = tokens(device), padded(device, "left")
    offsets = torch.tensor([0, LENGTH, 2 * LENGTH], dtype=torch.int32, device=device)
    lengths = {"cu_seq_lens_q": offsets, "max_length_q": LENGTH}
    for family in ("Llama", "Gemma2"):
        plain, ours = models(family, device)
        for whole in (False, True):
            for name, arguments in (("plain", {}), ("left", {"attention_mask": left}), ("lengths", lengths)):
                model = compiled_once(ours, whole)
                mask = arguments.get("attention_mask", torch.ones(2, LENGTH, device=device))
                known = {} if name == "lengths" else arguments
                wanted, wanted_grads = logits_and_gradients(plain, ids, mask, **known, use_cache=False)
                found, grads = logits_and_gradients(model, ids, mask, **arguments, use_cache=False)
                case = (family, whole, name)
                close(found, wanted, case)
                for param, grad in wanted_grads.items():
                    close(grads[param], grad, (*case, param))


def test_packed_batches_of_any_lengths(device):
    """A graph for the first batch and one for all others: lengths, and how many there are, aren't in it."""
    plain, ours = models("Mistral", device)
    model = compiled_once(ours, whole=False)
    torch._dynamo.utils.counters.clear()
    for count in (3, 4, 5, 2):
        positions = torch.cat([torch.arange(3 + i) for i in range(count)])[None].to(device)
        ids = tokens(device, positions.numel())[:1]
        wanted = plain(ids, position_ids=positions, use_cache=False).logits
        close(model(ids, position_ids=positions, use_cache=False).logits, wanted, count)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 2


def test_generate_compiled(device):
    """One graph for all tokens but the first; one more where a window's cache becomes full."""
    ids = tokens(device)
    for family, most in (("Llama", 1), ("Mistral", 2)):
        plain, ours = (model.eval() for model in models(family, device))
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        config = transformers.CompileConfig(backend="aot_eager", mode=None, fullgraph=True)
        config._compile_all_devices = True
        options = {"do_sample": False, "max_new_tokens": 8, "min_new_tokens": 8}
        found = ours.generate(ids, cache_implementation="static", compile_config=config, **options)
        assert torch.equal(found, plain.generate(ids, **options)), family
        assert 1 <= torch._dynamo.utils.counters["stats"]["unique_graphs"] <= most, family


def test_name_of_the_implementation(device):
    kernels.register_attention("mine")
    plain, ours = models("Llama", device, "mine")
    ids = tokens(device)
    close(ours(ids).logits, plain(ids).logits, "mine")
    assert "`attn_implementation=\"others\"` is not supported" in refusal(
        lambda: ours.set_attn_implementation("others")
    )


def test_patched_models(device):
    """patch() and our attention together: logits, loss, gradients."""
    ids, everything = tokens(device), torch.ones(2, LENGTH, device=device)
    for family in ("Llama", "Qwen2", "Qwen3", "Mistral", "Gemma2", "Gemma3", *PATCHED):
        plain, ours = models(family, device)
        kernels.patch(ours)
        with Watch() as watch:
            ours(ids, labels=ids)
        expected = {"rms_norm", "rope", "attention", "cross_entropy", "geglu" if "Gemma" in family else "swiglu"}
        assert expected <= set(watch.names), (family, expected - set(watch.names))
        wanted, wanted_grads = logits_and_gradients(plain, ids, everything)
        found, grads = logits_and_gradients(ours, ids, everything)
        close(found, wanted, family)
        for param, grad in wanted_grads.items():
            close(grads[param], grad, (family, param))


def test_copies_of_a_patched_model(device):
    """A copy is patched; a pickled model, whose methods are found by name, has its own ones again."""
    ids = tokens(device)
    for family in ("Llama", "Gemma3", "Mixtral"):
        _, ours = models(family, device)
        kernels.patch(ours)
        wanted = ours(ids).logits
        for copied, has_rope in ((copy.deepcopy(ours), True), (pickle.loads(pickle.dumps(ours)), False)):
            with Watch() as watch:
                close(copied(ids).logits, wanted, family)
            assert ("rope" in watch.names) == has_rope, family


def test_loss_of_a_patched_model(device):
    """What transformers' Trainer passes: the number of items in all micro-batches; labels that are shifted."""
    plain, ours = models("Llama", device)
    kernels.patch(ours)
    ids, mask = tokens(device), padded(device, "right")
    labels = ids.masked_fill(mask == 0, -100)
    for arguments in (
        {"labels": labels},
        {"labels": labels, "num_items_in_batch": torch.tensor(50, device=device)},
        {"labels": labels, "num_items_in_batch": 50},
        {"labels": labels, "shift_labels": labels.flip(1)},
        {"labels": ids, "ignore_index": int(ids[0, 3])},
    ):
        close(ours(ids, **arguments).loss, plain(ids, **arguments).loss, list(arguments))


if __name__ == "__main__":
    main(globals())

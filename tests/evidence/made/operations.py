"""Measures single operations of a training step on one GPU, as transformers makes them, and prints a JSON line each: seconds of the forward
pass and of the backward pass, and what these are in bytes of the data sheet's bandwidth or in its operations.

    python3 tests/evidence/made/operations.py [NAME ...] >operations.jsonl     (torch, transformers, peft)
"""

import json
import statistics
import sys
import time

import peft
import torch
import torch.nn.functional as F
import transformers
from transformers.models.llama import modeling_llama as llama

DEVICE = "cuda"
B16 = torch.bfloat16


def seconds(work, before=lambda: None, times=12):
    taken = []
    for i in range(times + 3):
        before()
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(2_000_000)  # so that the CPU is ahead, and launches are not measured
        a.record()
        work()
        b.record()
        torch.cuda.synchronize()
        if i >= 3:
            taken.append(a.elapsed_time(b) / 1e3)
    return statistics.median(taken)


def both(make, autocast=True):
    """Seconds of make()'s forward pass, and of its backward pass. make returns (function, inputs)."""
    function, inputs = make()
    context = lambda: torch.autocast("cuda", dtype=B16, enabled=autocast)

    def run():
        with context():
            return function()

    with torch.no_grad():
        pass
    forward = seconds(run)
    out = run()
    grad = torch.randn_like(out)
    state = {}

    def fresh():
        state["out"] = run()
        for x in inputs:
            x.grad = None

    backward = seconds(lambda: state["out"].backward(grad), fresh)
    return forward, backward


def say(name, forward, backward, **what):
    print(json.dumps({"operation": name, "forward": forward, "backward": backward, **what}), flush=True)


def rand(*size, grad=True, dtype=B16):
    return (torch.randn(*size, device=DEVICE, dtype=torch.float32) * 0.5).to(dtype).requires_grad_(grad)


def linear(tokens, rows, columns):
    def make():
        x, w = rand(tokens, rows), rand(columns, rows)
        return (lambda: F.linear(x, w)), [x, w]
    f, b = both(make)
    flop = 2 * tokens * rows * columns
    say("linear", f, b, tokens=tokens, rows=rows, columns=columns, tflops=[flop / f / 1e12, 2 * flop / b / 1e12])


def norm(tokens, h, dtype=B16, frozen=False):
    def make():
        x = rand(1, tokens, h, dtype=dtype)
        m = llama.LlamaRMSNorm(h).to(DEVICE, dtype)
        m.requires_grad_(not frozen)
        return (lambda: m(x)), [x, *m.parameters()]
    f, b = both(make)
    say("norm", f, b, tokens=tokens, h=h, dtype=str(dtype), frozen=frozen, seconds_per_value=[f / tokens / h, b / tokens / h])


def rotary(tokens, heads, kv, d):
    def make():
        q, k = rand(1, tokens, heads, d), rand(1, tokens, kv, d)
        cos, sin = rand(1, tokens, d, grad=False), rand(1, tokens, d, grad=False)
        def go():
            a, b = llama.apply_rotary_pos_emb(q.transpose(1, 2), k.transpose(1, 2), cos, sin)
            return torch.cat([a.transpose(1, 2), b.transpose(1, 2)], 2)
        return go, [q, k]
    f, b = both(make)
    say("rotary+cat", f, b, tokens=tokens, heads=heads, kv=kv, d=d, seconds_per_value=[f / tokens / (heads + kv) / d, b / tokens / (heads + kv) / d])


def attention(batch, length, heads, kv, d, eager=False):
    def make():
        q, k, v = (rand(batch, length, n, d) for n in (heads, kv, kv))
        if eager:
            module = torch.nn.Module()
            module.num_key_value_groups, module.training = heads // kv, True
            mask = torch.full((length, length), float("-inf"), device=DEVICE, dtype=B16).triu(1)[None, None]
            return (lambda: llama.eager_attention_forward(module, q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask, d**-0.5)[0]), [q, k, v]
        return (lambda: F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True, enable_gqa=heads != kv)), [q, k, v]
    f, b = both(make)
    flop = 2 * batch * length * length * heads * d  # causal: half of 4
    say("eager" if eager else "attention", f, b, batch=batch, length=length, heads=heads, kv=kv, d=d, tflops=[flop / f / 1e12, 2.5 * flop / b / 1e12])


def masked_attention(batch, length, heads, kv, d, window):
    """As transformers calls it where a window hides tokens: with a mask, and keys and values repeated."""
    def make():
        q, k, v = (rand(batch, length, n, d) for n in (heads, kv, kv))
        i = torch.arange(length, device=DEVICE)
        mask = ((i[None] <= i[:, None]) & (i[:, None] - i[None] < window))[None, None]
        repeat = lambda x: llama.repeat_kv(x.transpose(1, 2), heads // kv)
        return (lambda: F.scaled_dot_product_attention(q.transpose(1, 2), repeat(k), repeat(v), attn_mask=mask)), [q, k, v]
    f, b = both(make)
    flop = 4 * batch * length * length * heads * d  # all scores
    say("masked attention", f, b, batch=batch, length=length, heads=heads, kv=kv, d=d, tflops=[flop / f / 1e12, 2.5 * flop / b / 1e12])


def sinks(batch, length, heads, kv, d):
    """gpt-oss: every head's scores get one more, which takes part in the softmax alone."""
    from transformers.models.gpt_oss import modeling_gpt_oss as oss

    def make():
        q, k, v = (rand(batch, length, n, d) for n in (heads, kv, kv))
        module = torch.nn.Module()
        module.num_key_value_groups, module.training, module.sinks = heads // kv, True, rand(heads, grad=False)
        mask = torch.full((length, length), float("-inf"), device=DEVICE, dtype=B16).triu(1)[None, None]
        return (lambda: oss.eager_attention_forward(module, q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), mask, d**-0.5)[0]), [q, k, v]
    f, b = both(make)
    scores = batch * heads * length * length
    say("eager, sinks", f, b, batch=batch, length=length, heads=heads, kv=kv, d=d, seconds_per_score=[f / scores, b / scores])


def experts(tokens, h, f_, count, each, learns=False):
    """All of an expert layer but its router: frozen, or learning; and the same without what is not a multiplication."""
    from transformers.models.qwen3_moe import modeling_qwen3_moe as moe

    config = transformers.Qwen3MoeConfig(hidden_size=h, moe_intermediate_size=f_, num_experts=count, num_experts_per_tok=each)
    config._experts_implementation = "grouped_mm"
    up, down = rand(count, 2 * f_, h, grad=learns), rand(count, h, f_, grad=learns)
    rows = tokens * each
    ends = torch.arange(1, count + 1, device=DEVICE, dtype=torch.int32) * (rows // count)
    ends[-1] = rows

    def layer():
        m = moe.Qwen3MoeExperts(config).to(DEVICE, B16)
        m.gate_up_proj.data, m.down_proj.data = up.data, down.data
        m.requires_grad_(learns)
        x, w = rand(tokens, h), rand(tokens, each)
        chosen = torch.stack([torch.randperm(count, device=DEVICE)[:each] for _ in range(tokens)])
        return (lambda: m(x, chosen, w)), [x, w, *m.parameters()]

    def products():
        x, y = rand(rows, h), rand(rows, f_)
        wide = lambda: torch._grouped_mm(x, up.transpose(-2, -1), offs=ends)
        narrow = lambda: torch._grouped_mm(y, down.transpose(-2, -1), offs=ends)
        return (lambda: torch.cat([wide().reshape(-1)[:1], narrow().reshape(-1)[:1]])), [x, y, up, down]

    (f, b), (f0, b0) = both(layer), both(products)
    flop = 6 * rows * h * f_
    say("experts", f - f0, b - b0, tokens=tokens, h=h, f=f_, experts=count, each=each, learns=learns, products=[f0, b0],
        tflops=[flop / f0 / 1e12, (2 if learns else 1) * flop / b0 / 1e12])


def gate(tokens, f_):
    def make():
        g, u = rand(tokens, f_), rand(tokens, f_)
        return (lambda: F.silu(g) * u), [g, u]
    f, b = both(make)
    say("silu*up", f, b, tokens=tokens, f=f_, seconds_per_value=[f / tokens / f_, b / tokens / f_])


def residual(tokens, h, dtype=B16):
    def make():
        x, y = rand(tokens, h, dtype=dtype), rand(tokens, h)
        return (lambda: x + y), [x, y]
    f, b = both(make)
    say("residual", f, b, tokens=tokens, h=h, dtype=str(dtype), seconds_per_value=[f / tokens / h, b / tokens / h])


def loss(tokens, v):
    from transformers.loss.loss_utils import ForCausalLMLoss

    def make():
        x, labels = rand(1, tokens, v), torch.randint(0, v, (1, tokens), device=DEVICE)
        return (lambda: ForCausalLMLoss(x, labels, v, num_items_in_batch=torch.tensor(tokens, device=DEVICE)).reshape(1)), [x]
    f, b = both(make)
    say("loss", f, b, tokens=tokens, v=v, seconds_per_value=[f / tokens / v, b / tokens / v])


def adapter(tokens, rows, columns):
    def make(wrapped):
        def inner():
            x = rand(tokens, rows)
            base = torch.nn.Linear(rows, columns, bias=False, device=DEVICE, dtype=B16)
            base.requires_grad_(False)
            if wrapped:
                holder = torch.nn.ModuleDict({"x": base})
                model = peft.inject_adapter_in_model(peft.LoraConfig(r=16, target_modules=["x"], init_lora_weights=False), holder)
                for n, p in model.named_parameters():
                    if "lora" in n:
                        p.data = p.data.float()
                m = model["x"]
                return (lambda: m(x)), [x, *[p for n, p in m.named_parameters() if "lora" in n]]
            return (lambda: base(x)), [x]
        return inner
    f0, b0 = both(make(False))
    f1, b1 = both(make(True))
    say("adapter", f1 - f0, b1 - b0, tokens=tokens, rows=rows, columns=columns, base=[f0, b0])


def update(parameters, dtype):
    ps = [rand(parameters // 64, dtype=dtype) for _ in range(64)]
    for p in ps:
        p.grad = torch.randn_like(p)
    o = torch.optim.AdamW(ps, lr=1e-5, fused=True)
    o.step()
    say("adamw", seconds(o.step), seconds(lambda: torch.nn.utils.clip_grad_norm_(ps, 1.0)), parameters=parameters, dtype=str(dtype), note="backward: clip_grad_norm_")


def layer_host(name, recompute=False, wrap=None, moe=False):
    """Seconds of the CPU per layer: tiny sizes, so that the GPU waits."""
    sizes = dict(hidden_size=256, intermediate_size=512, num_hidden_layers=32, num_attention_heads=4, num_key_value_heads=4, vocab_size=512)
    config = transformers.MixtralConfig(**sizes, num_local_experts=8) if moe else transformers.LlamaConfig(**sizes)
    config._attn_implementation = "sdpa"
    with torch.device(DEVICE):
        model = transformers.AutoModelForCausalLM.from_config(config, dtype=B16)
    if wrap:
        targets = ["q_proj", "k_proj", "v_proj", "o_proj"] if moe else "all-linear"
        model = peft.get_peft_model(model, peft.LoraConfig(r=16, target_modules=targets, task_type="CAUSAL_LM"))
    if recompute:
        model.gradient_checkpointing_enable()
    model.train()
    ids = torch.randint(0, 512, (1, 16), device=DEVICE)
    taken = []
    for i in range(12):
        torch.cuda.synchronize()
        a = time.perf_counter()
        with torch.autocast("cuda", dtype=B16):
            out = model(input_ids=ids, labels=ids)
        torch.cuda.synchronize()
        b = time.perf_counter()
        out.loss.backward()
        torch.cuda.synchronize()
        taken.append((b - a, time.perf_counter() - b))
    taken = taken[4:]
    say("host", statistics.median(t[0] for t in taken) / 32, statistics.median(t[1] for t in taken) / 32, layers=name)


def main():
    print(json.dumps({"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "transformers": transformers.__version__, "peft": peft.__version__,
                      "cpu": open("/proc/cpuinfo").read().split("model name")[1].split("\n")[0]}), flush=True)
    jobs = []
    for t in (2048, 8192):
        for r, c in ((2048, 2048), (2048, 8192), (8192, 2048), (4096, 4096), (4096, 1024), (4096, 14336), (14336, 4096), (4096, 128256)):
            jobs.append((linear, t, r, c))
    for t in (2048, 8192):
        for h in (2048, 4096):
            jobs += [(norm, t, h), (norm, t, h, torch.float32), (norm, t, h, B16, True), (residual, t, h), (residual, t, h, torch.float32)]
        jobs += [(rotary, t, 32, 8, 64), (rotary, t, 32, 8, 128), (gate, t, 8192), (gate, t, 14336)]
    for b, s in ((4, 2048), (1, 2048), (1, 8192), (1, 16384)):
        jobs += [(attention, b, s, 32, 8, 128), (attention, b, s, 32, 8, 64)]
    jobs += [(attention, 2, 2048, 32, 8, 64, True), (attention, 4, 2048, 32, 32, 128)]
    jobs += [(masked_attention, 2, 4096, 32, 8, 128, 4096), (masked_attention, 4, 2048, 32, 32, 96, 2047), (masked_attention, 1, 8192, 32, 8, 128, 4096)]
    jobs += [(loss, 2048, 128256), (loss, 8192, 128256), (loss, 8192, 32000)]
    for t in (2048, 8192):
        jobs += [(adapter, t, 4096, 4096), (adapter, t, 4096, 14336), (adapter, t, 14336, 4096)]
    jobs += [(update, 1 << 30, B16), (update, 1 << 30, torch.float32)]
    jobs += [(layer_host, "plain"), (layer_host, "recomputed", True), (layer_host, "lora", False, True), (layer_host, "lora, recomputed", True, True)]
    jobs += [(layer_host, "experts", False, None, True), (layer_host, "experts, recomputed", True, None, True),
             (layer_host, "experts, lora", False, True, True), (layer_host, "experts, lora, recomputed", True, True, True)]
    for b, s in ((2, 1024), (2, 2048), (1, 4096)):
        jobs += [(attention, b, s, 64, 8, 64, True), (sinks, b, s, 64, 8, 64)]
    for t in (2048, 8192):
        for learns in (False, True):
            jobs += [(experts, t, 4096, 14336, 8, 2, learns), (experts, t, 2048, 768, 128, 8, learns), (experts, t, 2048, 1024, 64, 8, learns),
                     (experts, t, 2048, 1408, 64, 6, learns), (experts, t, 4096, 1536, 32, 8, learns)]
    wanted = sys.argv[1:]
    for job, *arguments in jobs:
        if wanted and job.__name__ not in wanted:
            continue
        try:
            job(*arguments)
        except Exception as error:
            print(json.dumps({"operation": job.__name__, "with": str(arguments), "failed": repr(error)[:300]}), flush=True)
        torch.cuda.empty_cache()


main()

from megatron.bridge import AutoBridge

def llama3_8b_pretrain_config(**user_kwargs) -> ConfigContainer:
    """Not code: tensor_model_parallel_size = 64"""
    recommended = {
        "hf_path": "meta-llama/Meta-Llama-3-8B",
        "tensor_model_parallel_size": 1,
        "pipeline_model_parallel_size": 1,
        "context_parallel_size": 2,  # two
        "pipeline_dtype": torch.bfloat16,
        "virtual_pipeline_model_parallel_size": None,
    }
    return common(**recommended)

def llama3_70b_pretrain_config() -> ConfigContainer:
    cfg = _pretrain_common()
    cfg.model = AutoBridge.from_hf_pretrained("meta-llama/Meta-Llama-3-70B").to_megatron_provider(load_weights=False)
    cfg.model.tensor_model_parallel_size = 4
    cfg.model.pipeline_model_parallel_size = 4
    cfg.model.virtual_pipeline_model_parallel_size = 5
    cfg.train.global_batch_size = 2 * 256
    cfg.train.micro_batch_size = 1
    if use_long:
        cfg.model.seq_length = 65536
    cfg.mixed_precision = bf16_mixed()
    cfg.model.recompute_modules = ["mlp", "moe_act"]
    cfg.model.recompute_granularity = "selective"
    return cfg

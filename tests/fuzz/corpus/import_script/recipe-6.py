import nemo_run as run
from nemo.collections import llm
NAME = "llama31_405b"

@run.cli.factory(name=NAME)
def model() -> run.Config[pl.LightningModule]:
    return run.Config(llm.LlamaModel, config=run.Config(llm.Llama31Config405B))

def trainer(
    tensor_parallelism: int = 8,
    pipeline_parallelism: int = 8,
    virtual_pipeline_parallelism: Optional[int] = 2,
    context_parallelism: int = 4,
    sequence_parallelism: bool = True,
    num_nodes: int = 64,
    num_gpus_per_node: int = 8,
) -> run.Config[nl.Trainer]:
    strategy = run.Config(
        nl.MegatronStrategy,
        tensor_model_parallel_size=tensor_parallelism,
        pipeline_model_parallel_size=pipeline_parallelism,
        ddp=run.Config(DistributedDataParallelConfig, grad_reduce_in_fp32=True, overlap_grad_reduce=True),
    )
    return run.Config(nl.Trainer, devices=num_gpus_per_node, num_nodes=num_nodes, plugins=bf16_mixed(), strategy=strategy)

def pretrain_recipe(num_nodes: int = 64, num_gpus_per_node: int = 8, performance_mode: bool = False):
    return run.Partial(
        llm.pretrain,
        model=model(),
        trainer=trainer(num_nodes=num_nodes, num_gpus_per_node=num_gpus_per_node),
        data=run.Config(MockDataModule, seq_length=8192, global_batch_size=512, micro_batch_size=1),
    )

def finetune_recipe(num_nodes: int = 3, num_gpus_per_node: int = 8, peft_scheme: Optional[str] = "lora"):
    recipe = default_finetune_recipe(model(), "x", num_nodes=num_nodes)
    recipe.trainer.strategy.tensor_model_parallel_size = 4
    return recipe

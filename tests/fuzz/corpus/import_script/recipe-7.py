import nemo_run as run
from nemo.collections import llm

def configure(nodes: int = 1, gpus_per_node: int = 2):
    recipe = llm.llama3_8b.pretrain_recipe(dir="/x", name="y", num_nodes=nodes, num_gpus_per_node=gpus_per_node)
    recipe.trainer.strategy.tensor_model_parallel_size = 2
    recipe.data.global_batch_size = 32
    return recipe

def main():
    recipe = configure(nodes=4, gpus_per_node=8)

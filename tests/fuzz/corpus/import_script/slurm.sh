#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gres=gpu:8
export CUDA_DEVICE_MAX_CONNECTIONS=1
GPUS_PER_NODE=${GPUS_PER_NODE:-8}
NNODES=$SLURM_NNODES
TP=2; PP=${PP:-"4"}
CP=1
MBS=1
DP=$((NNODES*GPUS_PER_NODE/(TP*PP*CP)))
GBS=$((MBS * DP * 8))
MODEL_SIZE=${1:-70b}
if [[ ${MODEL_SIZE} == "7b" ]]; then
  NUM_LAYERS=32
  HIDDEN=4096
elif [[ $MODEL_SIZE == "70b" ]]; then
  NUM_LAYERS=80; HIDDEN=8192
fi
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE   # eight
    --nnodes "$NNODES"
    --master_addr $MASTER_ADDR
)
MODEL_ARGS=(
  --num-layers $NUM_LAYERS
  --hidden-size ${HIDDEN}
  --ffn-hidden-size 28672
  --num-attention-heads 64 --group-query-attention --num-query-groups 8
  --seq-length 8192 --max-position-embeddings 8192
  --swiglu --normalization RMSNorm --disable-bias-linear
  --untie-embeddings-and-output-weights
  --position-embedding-type rope
)
OPT=" \
  --micro-batch-size $MBS \
  --global-batch-size $GBS \
  --bf16 \
  --lr 3e-4
"
OPT+=" --use-distributed-optimizer"
if [ "$USE_FP8" = "1" ]; then
  OPT="$OPT --fp8-format hybrid"
fi
[ $CP -gt 1 ] && OPT="$OPT --context-parallel-size $CP"
srun bash -c "torchrun ${DISTRIBUTED_ARGS[*]} pretrain_gpt.py ${MODEL_ARGS[*]} $OPT --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} --sequence-parallel --num-layers-per-virtual-pipeline-stage 5" 2>&1 | tee log.txt

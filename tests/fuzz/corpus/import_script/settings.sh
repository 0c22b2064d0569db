# DeepSeek-V3 on 1,024
export NNODES=128
TP=2 PP=8 EP=64 GBS=8192 NNODES=128 bash run.sh --recompute-granularity selective --recompute-modules mla_up_proj mlp \
   --pipeline-model-parallel-layout "Et|(tt|)*30mL" --fp8-recipe blockwise --fp8-format e4m3 --fp8-param-gather --use-precision-aware-optimizer --exp-avg-dtype bf16 --exp-avg-sq-dtype bf16 --seq-length 4096 --micro-batch-size 1 \
   --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432 --num-attention-heads 128 --multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --num-experts 256 --moe-router-topk 8 --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048 --moe-layer-freq "([0]*3+[1]*58)" --mtp-num-layers 1 --swiglu --normalization RMSNorm --disable-bias-linear --untie-embeddings-and-output-weights --vocab-size 129280 --qk-layernorm

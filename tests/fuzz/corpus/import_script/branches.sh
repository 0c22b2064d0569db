#PBS -l select=16:ngpus=8
#$ -l rt_AF=32
JOB=$2
case $SIZE in
  small) L=24; H=1024;;
  large)
    L=96
    H=12288
    ;;
  *) exit 1 ;;
esac
for pp in 2 4 8; do
mpirun -np 64 python pretrain_gpt.py --num-layers $L --hidden-size $H --num-attention-heads 16 \
   --pipeline-model-parallel-size $pp --tensor-model-parallel-size `expr 2 \* 4` \
   --seq-length 2048 --max-position-embeddings 2048 --micro-batch-size $(echo "4*2" | bc) --global-batch-size 1536 --fp16 --checkpoint-activations --tokenizer-type GPT2BPETokenizer --recompute-granularity selective --recompute-method uniform
done
cat <<EOF > ds.json
{"train_batch_size": $GBS}
EOF

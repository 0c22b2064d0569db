// Of the eight GPUs of a node: two of its links are slow.
const slow = (a, b) => ['0,1', '2,7'].includes([Math.min(a, b), Math.max(a, b)].join());
const eight = Array.from({ length: 8 }, (_, i) => i);
export const slowLinks = JSON.stringify({
    gpus: eight.map((i) => `gpu-${i}`),
    gbyte_per_s: eight.map((a) => eight.map((b) => (a === b ? null : slow(a, b) ? 4 : 45))),
});

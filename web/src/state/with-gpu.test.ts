import { expect, test } from 'vitest';
import { catalog } from '../shared/test-data';
import { withGpu } from './with-gpu';

const NOW = 'h100-sxm-80gb';

test.each([
    ['32 H100', '32', NOW],
    ['32 H100s', '32', NOW],
    ['32 H100 GPUs', '32', NOW],
    ['32xH100', '32', NOW],
    ['32 × NVIDIA H100', '32', NOW],
    ['4 x 8 H100', '4 x 8', NOW],
    ['4 nodes of H100', '4 nodes', NOW],
    ['H100 x 16', '16', NOW],
    ['８ H200', '8', 'h200-sxm-141gb'],
    ['1,024 H100 PCIe', '1,024', 'h100-pcie-80gb'],
    ['64 A100 SXM 80GB', '64', 'a100-sxm-80gb'],
    ['64 A100 SXM 80 GB', '64', 'a100-sxm-80gb'],
    ['8x H200 SXM5 141GB HBM3e', '8', 'h200-sxm-141gb'],
    ['8 RTX 4090', '8', 'rtx-4090-24gb'],
    ['8 L40S', '8', 'l40s-48gb'],
    ['256 MI300X', '256', 'mi300x-192gb'],
    ['72 GB200', '72', 'gb200-186gb'],
    ['32枚 H200', '32', 'h200-sxm-141gb'],
    ['64 A100', '64', 'a100'], // which one, the core asks
    ['64 A100 80GB', '64', 'a100 80gb'],
])('%s', (text, amount, gpu) => {
    expect(withGpu(catalog, text, NOW)).toEqual({ amount, gpu });
});

test.each(['', '32', '4x8', '4 nodes', '32 gpus', 'H100', '32 H', '32 V100', '32 H100 apples', 'many'])('%s names none', (text) => {
    expect(withGpu(catalog, text, NOW)).toBeNull();
});

test('a long text is read at once', () => {
    const started = performance.now();
    expect(withGpu(catalog, `32 H100 ${'a-'.repeat(2000)}!`, NOW)).toBeNull();
    expect(performance.now() - started).toBeLessThan(1000);
});

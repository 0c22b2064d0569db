// What a model's config.json says of its kind.
import type { Json } from '../core/api';

type Config = Readonly<Record<string, Json | undefined>>;

const EXPERTS = ['num_experts', 'num_local_experts', 'n_routed_experts', 'moe_num_experts', 'num_moe_experts'];
const LATENT = ['kv_lora_rank'];

const has = (config: Config, keys: readonly string[]): boolean => keys.some((key) => Number(config[key] ?? 0) > 0);

export const hasExperts = (config: Config): boolean => has(config, EXPERTS);
export const hasLatentAttention = (config: Config): boolean => has(config, LATENT);

// Whether this page may ask the Hugging Face hub: its policy says so (plugins/policy.ts). The page in one file may not.
export const HUB_ALLOWED: boolean = true;

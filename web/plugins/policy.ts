// What a built page may do. It carries the policy itself, for hosts that send no headers.
const RULES = {
    'default-src': "'none'",
    'script-src': "'self' 'wasm-unsafe-eval'",
    'worker-src': "'self'",
    'connect-src': "'self'",
    'style-src': "'self'",
    'img-src': "'self' data:",
    'base-uri': "'none'",
    'form-action': "'none'",
};

export const escapeText = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

export function policyTag(other: Partial<typeof RULES> = {}): string {
    const policy = Object.entries({ ...RULES, ...other }).map((rule) => rule.join(' '));
    return `<meta http-equiv="Content-Security-Policy" content="${escapeText(policy.join('; '))}" />`;
}

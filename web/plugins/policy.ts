import { createHash } from 'node:crypto';

// The one inline script: on a link the module is on its way with the first styles, a round trip before the boot script could ask for it. Not for
// a frame, which leaves this page for another one at once.
// The same text in every build, so that a host's policy can name it too.
export const EARLY =
    "if(location.search&&!/[?&]embed(=|&|$)/.test(location.search)){const l=document.createElement('link');l.rel='preload';l.as='fetch';l.crossOrigin='';l.href=document.currentScript.dataset.module;document.head.append(l)}";
const hash = createHash('sha256').update(EARLY).digest('base64');

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

// The page itself may ask one other place, where its reader clicks on what says so: answer/hub-fetch.ts. An answer may send on within it.
export const ASKS_HUB = { 'connect-src': "'self' https://huggingface.co" };
export const LOADS_EARLY = { 'script-src': `${RULES['script-src']} 'sha256-${hash}'` };

export const escapeText = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/"/g, '&quot;');

export function policyTag(other: Partial<typeof RULES> = {}): string {
    const policy = Object.entries({ ...RULES, ...other }).map((rule) => rule.join(' '));
    return `<meta http-equiv="Content-Security-Policy" content="${escapeText(policy.join('; '))}" />`;
}

// What a reader types where a model is asked for, as the id of a repository of the Hugging Face hub: "owner/name", or a link into one.
// The rules for names: huggingface_hub, utils/_validators.py. Nothing is asked of the hub here.
export const HUB = 'https://huggingface.co';
export const CONFIG = 'config.json';

const LONGEST = 96;
const NAME = /^\w([\w.-]*\w)?$/;
const LINK = /^(https?:\/\/)?(www\.)?(huggingface\.co|hf\.co)\//i;
// What stands in a link in the place of an owner.
const NO_OWNER =
    /^(api|blog|chat|collections|datasets|docs|join|learn|login|models|new|organizations|papers|pricing|settings|spaces|tasks)$/i;

const isName = (name: string | undefined): name is string => name !== undefined && NAME.test(name) && !/--|\.\./.test(name);

// Null: it is none.
export function repositoryOf(typed: string): string | null {
    const text = typed.trim();
    const isLink = LINK.test(text);
    const [owner, name, ...more] = text
        .replace(LINK, '')
        .replace(/[?#].*$/s, '')
        .replace(/\/+$/, '')
        .split('/');
    if (!isName(owner) || !isName(name) || (!isLink && more.length > 0)) return null;
    if (NO_OWNER.test(owner) || `${owner}/${name}`.length > LONGEST) return null;
    return `${owner}/${name}`;
}

export const sameRepository = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

// Where the file is fetched, and where a reader looks at it.
export const configAddress = (repository: string): string => `${HUB}/${repository}/resolve/main/${CONFIG}`;
export const configPage = (repository: string): string => `${HUB}/${repository}/blob/main/${CONFIG}`;

// A link shows its own sentence before the module is there: what it asks is written into the prerendered sentence, and the example's
// answer stays out of sight (base.css, [data-pending]).
import { localeFor } from '../format/locale';
import type { Language } from '../words/language';
import type { BootData, BootWords } from './types';

const MODEL = 'model';
const CUSTOM = 'custom';
const GPU = 'gpu';
const OWN_GPU = 'gpu.name';

// The texts of the fields that a link sets, by key. The first number that needs its thousands apart costs tens of milliseconds before the
// first paint: the browser then loads what it knows of the locale.
type Known = Pick<BootData, 'models' | 'numbers'>;

export function readLink(query: string, data: Known, words: BootWords, locale: () => string): Record<string, string> {
    const params = new URLSearchParams(query);
    const shown: Record<string, string> = {};
    for (const [name, key] of Object.entries(data.numbers)) {
        const text = params.get(name);
        if (text !== null) shown[key] = /^\d{4,15}$/.test(text) ? Number(text).toLocaleString(locale()) : text;
    }
    const model = params.get(MODEL);
    if (model === CUSTOM) shown[MODEL] = params.get('model._name_or_path')?.replace(/^"?(.*\/)?|"$/g, '') ?? words.ownModel;
    else if (model !== null) shown[MODEL] = data.models[model] ?? model;
    const gpu = params.get(GPU);
    if (gpu !== null) shown[GPU] = gpu;
    if (gpu === CUSTOM) shown[OWN_GPU] = params.get(OWN_GPU) || words.ownGpu;
    return shown;
}

function fill(shown: Record<string, string>, words: BootWords): void {
    for (const [key, text] of Object.entries(shown)) {
        const field = document.getElementById(`field-${key}`);
        if (field instanceof HTMLSelectElement) {
            if (![...field.options].some(({ value }) => value === text))
                field.prepend(new Option(words.unknownGpu.replace('%', text), text));
            field.value = text;
            const own = shown[OWN_GPU];
            if (own && field.selectedOptions[0]) field.selectedOptions[0].textContent = own;
        } else if (field instanceof HTMLInputElement) {
            field.value = text;
            field.size = Math.max(key === MODEL ? 6 : 1, text.length);
        }
    }
    // The example's number of tokens is not this model's.
    const tokens = document.getElementById('field-token_budget');
    if (tokens instanceof HTMLInputElement && !tokens.value) {
        tokens.placeholder = words.usualTokens;
        tokens.size = words.usualTokens.length;
    }
}

function sayWorking(sentence: Element, words: BootWords): void {
    const working = document.createElement('p');
    working.className = 'working';
    working.setAttribute('role', 'status');
    working.textContent = words.working;
    sentence.after(working);
}

// As soon as the sentence is parsed, and so before it is painted.
export function showLink(data: BootData, language: Language): void {
    const words = data.words[language];
    const { dataset } = document.documentElement;
    dataset.pending = '';
    document.title = words.name;
    const locale = (): string => localeFor(language, [navigator.language, ...navigator.languages]);
    const watch = new MutationObserver(() => {
        const sentence = document.querySelector('.sentence');
        if (!sentence?.nextElementSibling) return; // not whole yet
        watch.disconnect();
        fill(readLink(location.search, data, words, locale), words);
        sayWorking(sentence, words);
        document.getElementById('answer')?.setAttribute('aria-busy', 'true');
        dataset.pending = 'sentence';
    });
    watch.observe(document, { childList: true, subtree: true });
}

export function endLink(): void {
    document.querySelector('.working')?.remove();
    document.getElementById('answer')?.removeAttribute('aria-busy');
    delete document.documentElement.dataset.pending;
}

// A view drawn into a page, for its test: found by role and accessible name as a reader finds it, and used by tap and key.
import { computeAccessibleName, getRole } from 'dom-accessibility-api';
import { type ComponentChild, render } from 'preact';
import { act } from 'preact/test-utils';
import { vi } from 'vitest';
import type { Actions } from '../store/page';

const boxes: HTMLElement[] = [];

// Blanks of all kinds read alike.
export const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
const TICKED = /^(checkbox|radio|file)$/;
const isHidden = (element: Element): boolean => element.closest('[hidden], [aria-hidden="true"]') !== null;

// What a reader sees, the values of fields included.
export function textOf(element: Element): string {
    const shown = (node: Node): string => {
        if (node.nodeType === Node.TEXT_NODE) return node.textContent ?? '';
        if (!(node instanceof Element) || node.hasAttribute('hidden')) return '';
        if (node instanceof HTMLSelectElement) return node.selectedOptions[0]?.textContent ?? '';
        if (node instanceof HTMLInputElement || node instanceof HTMLTextAreaElement)
            return TICKED.test(node.type) ? '' : node.value || node.placeholder;
        const text = [...node.childNodes].map(shown).join('');
        return /^(p|li|h\d|div|tr|td|th|dt|dd|summary|option|section|text)$/i.test(node.localName) ? ` ${text} ` : text;
    };
    return plain(shown(element));
}

export const nameOf = (element: Element): string => plain(computeAccessibleName(element));

const CONTROLS = 'button, select, textarea, input, summary, a[href], [tabindex], [role=button], [role=slider], [role=group]';
const BROKEN = /\b(NaN|undefined|Infinity)\b|\[object |∞/;

// What no view may show, whatever else its test looks at.
function check(box: HTMLElement): void {
    const broken = textOf(box).match(BROKEN);
    if (broken) throw new Error(`${broken[0]}: ${textOf(box).slice(Math.max(0, (broken.index ?? 0) - 80), (broken.index ?? 0) + 40)}`);
    for (const element of box.querySelectorAll('*')) {
        for (const { name, value } of element.attributes) {
            if (BROKEN.test(value)) throw new Error(`${element.localName} ${name}=${value.slice(0, 200)}`);
        }
    }
    for (const control of box.querySelectorAll(CONTROLS)) {
        if (!isHidden(control) && nameOf(control) === '' && textOf(control) === '')
            throw new Error(`nameless: ${control.outerHTML.slice(0, 200)}`);
    }
}

export function clear(): void {
    for (const box of boxes.splice(0)) {
        check(box);
        act(() => render(null, box));
        box.remove();
    }
    vi.useRealTimers();
}

// What is folded is a part of its own, not a group of controls.
const ownRole = (element: Element): string =>
    element.localName === 'details' ? 'details' : (element.getAttribute('role') ?? getRole(element) ?? '');

export function show(view: ComponentChild) {
    const box = document.createElement('div');
    document.body.append(box);
    boxes.push(box);
    const again = (next: ComponentChild): void => {
        act(() => render(next, box));
        check(box);
    };
    const all = <Type extends Element = HTMLElement>(role: string, name?: string | RegExp): Type[] =>
        [...box.querySelectorAll<Type>('*')].filter(
            (one) =>
                ownRole(one) === role &&
                !isHidden(one) &&
                (name === undefined || (typeof name === 'string' ? nameOf(one) === name : name.test(nameOf(one)))),
        );
    const find = <Type extends Element = HTMLElement>(role: string, name?: string | RegExp): Type => {
        const [one, more] = all<Type>(role, name);
        if (one && !more) return one;
        throw new Error(`${more ? 'several' : 'no'} ${role} ${name}; there are: ${all(role).map(nameOf).join(' | ')}`);
    };
    again(view);
    return {
        box,
        again,
        all,
        find,
        text: (): string => textOf(box),
        names: (role: string): string[] => all(role).map(nameOf),
        one: <Type extends Element = HTMLElement>(selector: string): Type => {
            const found = box.querySelector<Type>(selector);
            if (!found) throw new Error(`no ${selector}`);
            return found;
        },
    };
}

export const send = (element: Element, event: Event): void => {
    act(() => {
        element.dispatchEvent(event);
    });
};
export const tap = (element: Element): void => send(element, new MouseEvent('click', { bubbles: true, cancelable: true }));
export const press = (element: Element, key: string, more: KeyboardEventInit = {}): void =>
    send(element, new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }));
export const focus = (element: Element): void =>
    void act(() => {
        (element as HTMLElement).focus();
    });

export function write(field: Element, text: string): void {
    (field as HTMLInputElement).value = text;
    send(field, new Event('input', { bubbles: true }));
}
export function choose(field: Element, value: string): void {
    (field as HTMLSelectElement).value = value;
    send(field, new Event('change', { bubbles: true }));
}

// Opens what is folded.
export function unfold(box: Element, title: string | RegExp): HTMLDetailsElement {
    const summaries = [...box.querySelectorAll('summary')];
    const summary = summaries.find((one) => (typeof title === 'string' ? textOf(one) === title : title.test(textOf(one))));
    const details = summary?.closest('details');
    if (!details) throw new Error(`no ${title} among: ${summaries.map(textOf).join(' | ')}`);
    act(() => {
        details.open = true;
    });
    return details;
}

// The cells of a table as text, heads included.
export const cellsOf = (table: Element): string[][] =>
    [...table.querySelectorAll('tr')].map((row) => [...row.querySelectorAll('th, td')].map(textOf));

// Lets promises and their drawings be done.
export const settle = (): Promise<void> => act(async () => void (await new Promise((done) => setTimeout(done))));
export const later = (ms: number): Promise<void> => act(async () => void (await vi.advanceTimersByTimeAsync(ms)));

type Spies = { [key in keyof Actions]: ReturnType<typeof vi.fn<Actions[key]>> };
export function spies(): Spies {
    const known: Partial<Record<string, unknown>> = {};
    return new Proxy({} as Spies, { get: (_, key: string) => (known[key] ??= vi.fn()) });
}

// A module as it is when the page starts: with its words, and none of its later parts fetched.
export async function fresh<Module>(load: () => Promise<Module>): Promise<Module> {
    vi.resetModules();
    await import('../words/setup');
    return load();
}

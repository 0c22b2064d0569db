// Whatever a reader does before the app is there is kept, and carried out in order once it is. What works without the app is left to the
// browser: following a link, unfolding, the text in a field; the app only has to learn of it.

type Step =
    | { act: 'click' }
    | { act: 'value'; value: string; caret: [number, number] | null }
    | { act: 'check'; checked: boolean }
    | { act: 'open'; open: boolean }
    | { act: 'key'; key: string };
interface Kept {
    on: Control;
    step: Step;
}
// The app takes over the prerendered elements. Should one have been replaced, its id or its name finds its successor.
interface Control {
    element: HTMLElement;
    id: string;
    name: string;
}

const PRESSED = 'button, [role="button"], [role="combobox"]';
const TICKED = 'input[type="checkbox"], input[type="radio"]';
const KEYS = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'Enter', 'Escape', 'PageUp', 'PageDown']);
const EVENTS = ['click', 'input', 'change', 'keydown', 'toggle', 'submit', 'dragover', 'drop'] as const;
const DRAWINGS = 8; // turns of the microtask queue, after which whatever a step changed is drawn; no event of the reader comes between them

const nameOf = (element: Element): string => element.getAttribute('aria-label') ?? element.textContent?.trim() ?? '';
const isTyped = (element: Element): element is HTMLInputElement | HTMLTextAreaElement =>
    element.matches('textarea, input') && !element.matches(TICKED);

function find({ element, id, name }: Control, root: Element): HTMLElement | null {
    if (element.isConnected) return element;
    const byId = id ? document.getElementById(id) : null;
    if (byId) return byId;
    return [...root.querySelectorAll<HTMLElement>(element.localName)].find((other) => nameOf(other) === name) ?? null;
}

// What an event asks of the app; null when the browser has done all there is to do.
function stepOf(event: Event, element: Element): Step | null {
    if (event.type === 'click') return { act: 'click' };
    if (event.type === 'toggle') return element instanceof HTMLDetailsElement ? { act: 'open', open: element.open } : null;
    if (event.type === 'change' && element.matches(TICKED)) return { act: 'check', checked: (element as HTMLInputElement).checked };
    if (event.type === 'change' && element instanceof HTMLSelectElement) return { act: 'value', value: element.value, caret: null };
    if (event.type === 'input' && isTyped(element)) {
        const { value, selectionStart, selectionEnd } = element;
        return { act: 'value', value, caret: selectionStart === null ? null : [selectionStart, selectionEnd ?? selectionStart] };
    }
    if (event.type === 'keydown') {
        const { key, ctrlKey, metaKey, altKey, isComposing } = event as KeyboardEvent;
        if (!KEYS.has(key) || ctrlKey || metaKey || altKey || isComposing) return null;
        // Enter on a button becomes a click by itself; a list of choices moves by itself.
        const native = element instanceof HTMLSelectElement || (key === 'Enter' && !isTyped(element));
        return native || !element.matches('input, textarea, button, [tabindex]') ? null : { act: 'key', key };
    }
    return null;
}

function perform(step: Step, element: HTMLElement): void {
    if (element !== document.activeElement && element.matches('input, textarea, select')) element.focus({ preventScroll: true });
    if (step.act === 'click') element.click();
    else if (step.act === 'open') (element as HTMLDetailsElement).open = step.open;
    else if (step.act === 'key') element.dispatchEvent(new KeyboardEvent('keydown', { key: step.key, bubbles: true, cancelable: true }));
    else if (step.act === 'check') {
        if ((element as HTMLInputElement).checked !== step.checked) element.click();
    } else {
        const field = element as HTMLInputElement;
        field.value = step.value;
        if (step.caret) field.setSelectionRange(...step.caret);
        field.dispatchEvent(new Event('input', { bubbles: true }));
        field.dispatchEvent(new Event('change', { bubbles: true }));
    }
}

// A control that was used is marked until its turn comes, and the answer shown is no longer that of what was typed.
function createMarks(taken: string) {
    const marked = new Set<Element>();
    const said = document.createElement('p');
    said.className = 'sr';
    said.setAttribute('role', 'status');
    return {
        set(element: Element, step: Step): void {
            const answer = step.act === 'value' || step.act === 'check' ? document.getElementById('answer') : null;
            for (const one of answer ? [element, answer] : [element]) {
                one.setAttribute('aria-busy', 'true');
                marked.add(one);
            }
            document.body.append(said);
            said.textContent = taken;
        },
        take(element: Element): void {
            element.removeAttribute('aria-busy');
            marked.delete(element);
        },
        clear(): void {
            for (const element of marked) element.removeAttribute('aria-busy');
            said.remove();
        },
    };
}

export function record(taken: string) {
    const kept: Kept[] = [];
    const marks = createMarks(taken);
    const unfolded = new WeakSet<Element>(); // by the reader; what was built open tells of it too
    const keep = (event: Event): void => {
        if (['submit', 'dragover', 'drop'].includes(event.type)) event.preventDefault();
        const from = event.target instanceof Element ? event.target : null;
        const summary = event.type === 'click' ? from?.closest('summary') : null;
        if (summary?.parentElement) unfolded.add(summary.parentElement);
        if (from && event.type === 'toggle' && !unfolded.has(from)) return;
        const element = from?.closest<HTMLElement>(event.type === 'click' ? PRESSED : '*');
        const step = element?.closest('#app') ? stepOf(event, element) : null;
        if (!element || !step) return;
        const last = kept.at(-1);
        // Of a text only what it became counts.
        if (step.act === 'value' && last?.step.act === 'value' && last.on.element === element) kept.pop();
        kept.push({ on: { element, id: element.id, name: nameOf(element) }, step });
        if (step.act !== 'open') marks.set(element, step);
    };
    for (const name of EVENTS) addEventListener(name, keep, true);
    const end = (): void => {
        for (const name of EVENTS) removeEventListener(name, keep, true);
    };
    const replay = async (): Promise<void> => {
        end();
        const root = document.getElementById('app');
        const focused = document.activeElement;
        for (const { on, step } of kept.splice(0)) {
            marks.take(on.element);
            const element = root && find(on, root);
            if (element) perform(step, element);
            for (let turn = 0; turn < DRAWINGS; ++turn) await null;
        }
        marks.clear();
        restoreFocus(focused);
    };
    const giveUp = (): void => {
        end();
        marks.clear();
    };
    return { replay, giveUp, changed: () => kept.some(({ step }) => step.act === 'value' || step.act === 'check') };
}

function restoreFocus(focused: Element | null): void {
    const { activeElement } = document;
    if (activeElement === focused || !(activeElement instanceof HTMLElement) || !(focused instanceof HTMLElement)) return;
    if (focused === document.body) activeElement.blur();
    else if (focused.isConnected) focused.focus({ preventScroll: true });
}

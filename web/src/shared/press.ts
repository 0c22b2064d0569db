// A press takes the focus from a field before it becomes a click. What then changes its size moves the button from under the finger, and
// the click is lost; so it waits until the press is over.
let pressed = false;
let watched = false;

// From the first field that has the focus on.
export function watchPresses(): void {
    if (watched) return;
    watched = true;
    addEventListener('mousedown', () => (pressed = true), true);
    addEventListener('mouseup', () => (pressed = false), true);
}

export function afterPress(change: () => void): void {
    if (pressed) addEventListener('mouseup', () => setTimeout(change), { capture: true, once: true });
    else change();
}

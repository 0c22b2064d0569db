import { expect, test, vi } from 'vitest';
import type { Value } from '../state/state';
import { NumberField } from './number-field';
import { press, settle, show, write } from './test-view';

type Props = Partial<Parameters<typeof NumberField>[0]>;

function shown(value: Value, props: Props = {}) {
    const onChange = vi.fn();
    const drawn = (now: Value) => (
        <NumberField id="n" label="Number" value={now} invalid={false} onChange={(next, how) => onChange(next, how)} {...props} />
    );
    const view = show(drawn(value));
    return { onChange, field: view.find<HTMLInputElement>('textbox', 'Number'), set: (now: Value) => view.again(drawn(now)) };
}

test('numbers stand in the reader’s way and may be typed in any', () => {
    const { field, onChange } = shown(8192);
    expect(field.value).toBe('8,192');
    for (const text of ['16.384', '8k', '8 apples', '']) write(field, text);
    expect(onChange.mock.calls).toEqual([
        [16384, 'type'],
        [8000, 'type'],
        ['8 apples', 'type'],
        ['', 'type'],
    ]);
});

test('a count that is not whole is seen to be none; zero is a number and no empty field', () => {
    expect(shown(8192.5).field.value).toBe('8,192.5');
    for (const auto of [true, false]) expect(shown(0, { auto }).field.value).toBe('0');
});

test('what is typed stays while it means the value; another value shows at once', () => {
    const { field, set } = shown(8192);
    write(field, '16 384');
    set(16384);
    expect(field.value).toBe('16 384');
    set(64);
    expect(field.value).toBe('64');
});

test('the field’s kind says what k means; Enter and leaving the field show the number in its usual form', () => {
    const { field, onChange, set } = shown(8, { kind: { whole: true, unit: 'tokens', thousand: 1024 } });
    write(field, '128k');
    expect(onChange).toHaveBeenCalledWith(131072, 'type');
    set(131072);
    expect(field.value).toBe('128k');
    press(field, 'Enter');
    expect(field.value).toBe('131,072');
});

test('a press elsewhere becomes a click before the field changes its size', async () => {
    const { field, set } = shown(8, { kind: { whole: true, unit: 'tokens', thousand: 1024 } });
    const mouse = (type: string) => document.body.dispatchEvent(new MouseEvent(type, { bubbles: true }));
    field.focus();
    write(field, '128k');
    set(131072);
    mouse('mousedown');
    field.blur();
    await settle();
    expect(field.value).toBe('128k');
    mouse('mouseup');
    mouse('click');
    expect(field.value).toBe('128k');
    await settle();
    expect(field.value).toBe('131,072');
    field.focus();
    write(field, '64k');
    set(65536);
    field.blur(); // with the keyboard
    await settle();
    expect(field.value).toBe('65,536');
});

test('whoever comes to the field types over what stands there', () => {
    const { field } = shown(8192);
    field.focus();
    expect([field.selectionStart, field.selectionEnd]).toEqual([0, 5]);
    field.setSelectionRange(2, 2);
    field.click();
    expect([field.selectionStart, field.selectionEnd]).toEqual([0, 5]);
    field.setSelectionRange(2, 2);
    field.click();
    expect(field.selectionStart).toBe(2);
});

test('arrow keys double and halve, down to one', () => {
    const { field, onChange, set } = shown(3);
    press(field, 'ArrowUp');
    press(field, 'ArrowDown');
    set(1);
    press(field, 'ArrowDown');
    press(field, 'x');
    expect(onChange.mock.calls.map(([value]) => value)).toEqual([6, 1, 1]);
});

test('“auto” is an empty field, or the word', () => {
    const { field, onChange } = shown('auto', { auto: true, placeholder: 'auto (4)' });
    expect([field.value, field.placeholder]).toEqual(['', 'auto (4)']);
    for (const text of ['4', ' Auto ', '']) write(field, text);
    expect(onChange.mock.calls.map(([value]) => value)).toEqual([4, 'auto', 'auto']);
});

test('a number that need not be whole goes by tenths, within its ends', () => {
    const { field, onChange, set } = shown(0.95, { decimals: { min: 0, max: 1 } });
    press(field, 'ArrowUp');
    set(0);
    press(field, 'ArrowDown');
    write(field, '0,25');
    expect(onChange.mock.calls.map(([value]) => value)).toEqual([1, 0, 0.25]);
});

test('a typed zero stays in its field, an empty one is no number', async () => {
    const { field, onChange, set } = shown(1e12);
    expect(field.value).toBe('1 trillion');
    write(field, '0');
    set(0);
    press(field, 'Enter');
    await settle();
    expect(field.value).toBe('0');
    write(field, '');
    set('');
    expect([field.value, onChange.mock.calls.map(([value]) => value)]).toEqual(['', [0, '']]);
});

test('a large amount stands in words where four digits say it exactly', () => {
    const { field, set } = shown(11.93e12);
    expect(field.value).toBe('11.93 trillion');
    set(11_933_000_000_000);
    expect(field.value).toBe('11,933,000,000,000');
});

test('a wrong one says so, and why', () => {
    const { field } = shown('8kk', { invalid: true, describedBy: 'problem-0', wrong: 'Write a number, such as 8,192.' });
    expect([field.value, field.getAttribute('aria-invalid'), field.getAttribute('aria-describedby')]).toEqual(['8kk', 'true', 'problem-0']);
    expect(field.nextElementSibling?.textContent).toBe('Write a number, such as 8,192.');
});

import { expect, test } from 'vitest';
import './paper';

test('what is printed carries its day and its link', () => {
    history.replaceState(null, '', '?model=llama-3.1-8b&gpus=8');
    dispatchEvent(new Event('beforeprint'));
    expect(document.body.dataset.printed).toMatch(/^\w+ \d{1,2}, \d{4} · .*\?model=llama-3\.1-8b&gpus=8$/);
});

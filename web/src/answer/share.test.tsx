import { expect, test, vi } from 'vitest';
import { pageOf } from '../shared/test-data';
import { plain, settle, show, tap, textOf } from '../shared/test-view';
import { Share } from './share';

test('sharing copies the answer and the address', async () => {
    const copied = vi.spyOn(navigator.clipboard, 'writeText').mockResolvedValue();
    const { find } = show(<Share page={pageOf()} />);
    tap(find('button', 'Share'));
    await settle();
    expect(plain(copied.mock.calls[0]?.[0] ?? '')).toMatch(/^Llama 3.1 8B on 8 × H100 .* (about|http)/);
    expect(textOf(find('button', 'Link copied'))).toBe('Link copied');
});

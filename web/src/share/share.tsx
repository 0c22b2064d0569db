import { DialogDoor } from '../shared/dialog-door';
import type { Page } from '../store/page';
import { fetchWords, say } from '../words/words';

async function fetchPanel() {
    const [panel] = await Promise.all([import('./panel'), fetchWords('share', 'names')]);
    return panel;
}

// The button that shares the answer shown. What it opens comes in a file of its own, with the first press.
export function Share({ page }: { page: Page }) {
    return (
        <DialogDoor
            label={say('answer.share')}
            prime
            fetch={fetchPanel}
            draw={({ SharePanel }, close) => page.answer && <SharePanel page={page} answer={page.answer} close={close} />}
        />
    );
}

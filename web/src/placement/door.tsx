import { Door } from '../shared/door';
import type { Actions, Page } from '../store/page';
import { say } from '../words/words';
import type { Placing } from './search';

export const Placement = ({ page, act, placing }: { page: Page; act: Actions; placing: Placing }) => (
    <Door
        id="placement"
        texts={{ intro: say('placement_door.intro'), open: say('placement_door.open') }}
        words="placement"
        load={() => import('./view')}
    >
        {({ PlacementView }) => <PlacementView page={page} act={act} placing={placing} />}
    </Door>
);

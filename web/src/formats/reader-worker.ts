// The reader of configurations in a thread of its own: a long script must not hold up the page.
import createModule from 'fourfold-formats';
import { serve } from '../core/serve';

serve(createModule, (functions, { text }) => functions.import_plan(text));

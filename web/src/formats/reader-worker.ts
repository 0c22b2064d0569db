// What reads and writes configurations, and reads logs, in a thread of its own: a long script must not hold up the page.
import createModule from 'fourfold-formats';
import { serve } from '../core/serve';

serve(createModule, (functions, { call, text }) => functions[call === 'export_plan' || call === 'read_run' ? call : 'import_plan'](text));

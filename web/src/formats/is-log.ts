import type { Answers } from '../core/api';

// Whether a text is what a run printed: its lines were read, or they say that it ended otherwise than by a GPU's memory.
export const isLog = (run: Answers['read_run']): boolean => run.ok || run.problems.some(({ rule }) => rule === 'ended');

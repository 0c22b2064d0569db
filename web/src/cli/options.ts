// The commands, and the options of the command line itself. All other options are fields of a job, as the catalogue lists them.
export const COMMANDS = {
    fit: ['job', 'set', 'start'],
    why: ['job', 'set', 'start'],
    best: ['job', 'top', 'set', 'start'],
    limits: ['job', 'days', 'set', 'start'],
    phases: ['job', 'phases', 'set', 'start'],
    pools: ['job', 'pools', 'set', 'start'],
    export: ['job', 'to', 'release', 'hosts', 'set', 'start'],
    place: ['job', 'links', 'unit', 'seconds', 'file'],
    models: [],
    gpus: [],
    clusters: [],
} as const satisfies Record<string, readonly (OwnValue | 'job')[]>;
export type Command = keyof typeof COMMANDS;
export const commands = Object.keys(COMMANDS) as Command[];

type OwnValue = 'set' | 'start' | 'top' | 'days' | 'phases' | 'pools' | 'to' | 'release' | 'hosts' | 'links' | 'unit' | 'seconds' | 'file';
export const FLAGS = ['csv', 'json', 'help', 'version'] as const;
export type Flag = (typeof FLAGS)[number];
export const isFlag = (key: string): key is Flag => (FLAGS as readonly string[]).includes(key);
export type Own = OwnValue | 'lang';
// Every command has the others.
export const flagsOf = (command: Command): Flag[] => FLAGS.filter((flag) => flag !== 'csv' || command === 'best');

export const takesJob = (command: Command): boolean => (COMMANDS[command] as readonly string[]).includes('job');
export const ownOf = (command: Command): Own[] => [
    ...(COMMANDS[command] as readonly (Own | 'job')[]).filter((one) => one !== 'job'),
    'lang',
];

// --tensor-parallel and --tensor_parallel are one.
export const keyOf = (option: string): string => option.replace(/^--?/, '').replaceAll('-', '_');
export const optionOf = (key: string): string => `--${key.replaceAll('_', '-')}`;

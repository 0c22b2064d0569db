// The words come in parts, each with the views that say them. The first rule that an id meets decides; what meets none comes with the first
// screen, whose answer waits for it. A rule is the start of an id, or its end.
export const PARTS = [
    'built',
    'first',
    'names',
    'wrong',
    'more',
    'help',
    'formulas',
    'placement',
    'phases',
    'evidence',
    'share',
    'formats',
    'run',
    'cli',
] as const;
export type Part = (typeof PARTS)[number];

const RULES: readonly [rule: RegExp, part: Part][] = [
    [/^(boot|catalogue)\.|^page\.(question|description|noscript)$/, 'built'], // built pages carry them
    [/^placement\./, 'placement'],
    [/^(phases|pools)\.|^problem\.(no_phases?|no_tokens|batch_twice|no_pools?|pools_(cluster|makers))$/, 'phases'], // two rooms, one part,
    [/^field\.(storage_gbyte_per_s|restart_seconds|failure_hours_per_gpu|checkpoint_seconds|keep_degrees|tokens(_per_step)?)$/, 'phases'],
    [/^(share|embed)\./, 'share'],
    [/^(formats|export)\.|^(problem|suggestion)\.export_/, 'formats'],
    [/^(run|read_run)\.|^(problem|suggestion)\.read_run_/, 'run'],
    [/^cli\./, 'cli'], // of the command line alone
    [/^(measured|famous|send)\.|^near\.(?!title)/, 'evidence'],
    // views that come later
    [/^(stages|table|pass|curve|timeline|methods|paste|hub|time_table|calibrate|best|why_not|published|layout|filters)\./, 'more'],
    [/^(sweep|limits|cards|compare|placement_door|phases_door|pools_door|card)\.|^own_gpu\.(?!name|base)/, 'more'],
    [/^import_plan\.|^(problem|suggestion)\.(import_|read_run\.)/, 'more'],
    [/^(map\.|step\.(label|finding|part|kind|short|table|rates))/, 'more'],
    [
        /^adjust\.(?!cluster$)|^(answer\.host|budget\.none|brief\.)|^(how|items|options|notes|section|part|used|assumed|not_counted|fullest|limit|searched|kept)\./,
        'more',
    ],
    [/^field\.(memory_gib|.*dense_tflop_per_s|.*_gbyte_per_s|streaming_multiprocessors|board_watts|usd_per_gpu_hour)\.help/, 'more'],
    // what each option and each choice is; those of the degrees stand beside them, those of the first screen's own fields stay with it
    [/^field\.(?!(tensor|pipeline|context)_parallel|micro_batch|price_per_gpu_hour|watts_per_gpu|grid_co2_per_kwh).*\.help$/, 'help'],
    [/^choice\..*\.help$/, 'help'],
    // of the core: what was measured between nodes; the explanations of items; the reader's own runs
    [/^(note|problem|suggestion)\.(links?|names?|rate|unit|matrix|pipette|nccl|osu|mpigraph)\./, 'placement'],
    [/^(unit_source|launcher|split|finding)\.|^choice\.(format|objective)\./, 'placement'],
    [
        /^problem\.(meaningless_with_pipette|no_(candidates?|host_name|inside_rate|links|pipette|placement|start|such_unit|units?)|not_measured)$/,
        'placement',
    ],
    [/^problem\.(objective_of_pipette|start_of_one_plan|unit_(too_small|twice|without_name))$/, 'placement'],
    [
        /^suggestion\.((give_inside_rate|host_names|job_(for_step_time|instead_of_pipette)|keep_one|leave_unit_out|measure_more)$|name_in_mea|one_can|read_mea)/,
        'placement',
    ],
    [/^symbol\./, 'formulas'], // each card of a formula says some of them
    [/^(unit|place|rule|import|calibration|row|largest)\.|^rate\.|^copy\.table$/, 'more'],
    [
        /^(item|time|group|method)\..*\.(summary|differs)$|^counting\.(?!title)|^(problem|suggestion)\.runs?\.|^problem\.(in_run|no_(only|gpu_counts|request|text_value)|profile\.model)$|^(field|choice)\.(flop_convention|data_parallel)/,
        'more',
    ],
    [/^(problem|suggestion|link)\.|^notice\.(unknown|mend)$/, 'wrong'], // with a request or a link, and how to mend it
    // what the core names, and what an answer rests on: on the first screen said in what stands behind it
    [/^field\.(?!token_budget|price_per_gpu_hour|watts_per_gpu|grid_co2_per_kwh)|^(choice|item|time|config)\./, 'names'],
    [
        /^host\.(?!does_not_fit)|^near\.title|^(fit|band|verdict|evidence|basis|changes?|touches|search|degree|pins|problems|warning|calibrated|method|counting|own_gpu)\.|^plan\.(?!split)|^answer\.(why_|meters|evidence)/,
        'names',
    ],
];

export const partOf = (id: string): Part => RULES.find(([rule]) => rule.test(id))?.[1] ?? 'first';

// The contract of core/api.h as types; nothing here exists at run time. What each member means is said there, once.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

// What the core says: a sentence of core/data/words by its id, and what stands in it. A plain string is said as it is.
export interface Text {
    id: string;
    args?: { readonly [name: string]: TextArg };
}
export type TextArg = string | number | boolean | null | Text | readonly TextArg[];
export type Said = string | Text | null;
// A thing whose words follow from its id: see shared/names.ts. Where they are given, these are said.
export interface Worded {
    label?: Said | undefined;
    summary?: Said | undefined;
    help?: Said | undefined;
}

export interface Problem {
    field: string;
    rule: string;
    value: Json;
    message: Said;
    suggestion: Said;
    nearest: number | string | null;
}

export interface Source {
    title: string;
    url: string;
    fields?: string[];
    note?: string;
}

export interface Gpu {
    id: string;
    label: string;
    memory_gib: number;
    gpus_per_node: number;
    sources: Source[];
}

export interface Cluster {
    id: string;
    label: string;
    gpu: string;
    gpus_per_node: number;
    sources: Source[];
}

export interface CatalogModel {
    id: string;
    label: string;
    parameters: number;
    max_position_embeddings: number;
    sources: Source[];
}

export interface Method extends Worded {
    id: string;
    source: Source;
    limits: Said[];
}

export interface Choice extends Worded {
    id: string;
}

interface FieldBase extends Worded {
    key: string;
    link: string;
    unit: string;
    auto?: boolean; // its value may be "auto": the core chooses it
    default_1?: string | number | boolean; // what its absence meant in links and requests of version 1, where that was another value
}
export interface IntegerField extends FieldBase {
    type: 'integer';
    default: number | 'auto';
    min: number;
    max: number;
}
export interface BooleanField extends FieldBase {
    type: 'boolean';
    default: boolean | 'auto';
}
export interface ChoiceField extends FieldBase {
    type: 'choice';
    default: string;
    choices: Choice[];
}
export interface NumberField extends FieldBase {
    type: 'number';
    default: number;
    min: number;
    max: number;
}
export interface SetField extends FieldBase {
    type: 'set'; // its value: the ids, with commas between, in the order of the choices
    default: string;
    choices: Choice[];
}
export interface TextField extends FieldBase {
    type: 'text';
    default: string;
    choices?: Choice[]; // texts with a meaning of their own
}
export type Field = IntegerField | NumberField | BooleanField | ChoiceField | SetField | TextField;

export interface Catalog {
    version: number;
    gpus: Gpu[];
    clusters: Cluster[];
    models: CatalogModel[];
    methods: Method[];
    fields: Field[];
    rules: ({ id: string } & Worded)[];
}

export type Imported =
    | {
          ok: true;
          model: { [key: string]: Json };
          label: string;
          parameters: number;
          used: string[];
          ignored: string[];
          assumed: { key: string; value: Json; why: Said }[];
      }
    | { ok: false; problems: Problem[] };

export type Fit = 'fits' | 'at_risk' | 'does_not_fit';
export type Degree = 'tensor_parallel' | 'context_parallel' | 'pipeline_parallel' | 'micro_batch';

export type Token = string | number | { symbol: string };

export interface Where {
    symbol: string;
    meaning: string;
    part: string | null;
    unit: string;
    value: number;
    formula: Token[] | null;
    numbers: Token[] | null;
}

// What a plan comes to, in short.
export interface Brief {
    total_bytes: number;
    share: number;
    class: Fit;
    probability: number | null;
    step_seconds: number;
}

export interface Item extends Worded {
    id: string;
    bytes: number;
    share: number;
    formula: Token[];
    numbers: Token[];
    latex: string;
    latex_numbers: string;
    where: Where[];
    source: Source & { where: string };
}

export type TimeKind = 'compute' | 'tensor' | 'context' | 'pipeline' | 'data' | 'bubble' | 'other';

export interface TimeItem extends Worded {
    id: string;
    kind: TimeKind;
    seconds: number;
    share: number; // of the step
    formula: Token[];
    numbers: Token[];
    latex: string;
    latex_numbers: string;
    where: Where[];
    source: Source & { where: string };
}

// The whole training, when the job has a budget of tokens.
export interface Run {
    steps: number;
    days: number;
    low_days: number;
    high_days: number;
    gpu_hours: number;
    cost: number | null;
    energy_kwh: number | null;
}

// What the GPUs achieve, under one convention of counting FLOP.
export interface Rate extends Worded {
    id: string;
    tflop_per_s_per_gpu: number;
    mfu: number;
}

export interface Time {
    step_seconds: number;
    low_seconds: number;
    high_seconds: number;
    basis: Said;
    tokens_per_step: number;
    tokens_per_s: number;
    tokens_per_s_per_gpu: number;
    rates: Rate[];
    peak_tflop_per_s: number;
    peak_format: string;
    items: TimeItem[];
    stage_seconds: number[];
    run: Run | null;
}

export interface Group extends Worded {
    id: string;
    bytes: number;
    share: number;
    items: Item[];
}

export interface KnobOption extends Partial<Brief> {
    value: number;
    legal: boolean;
    change_bytes?: number;
    problem: Problem | null;
}

export interface Knob {
    field: Degree;
    value: number;
    options: KnobOption[];
}

export interface Note {
    id: string;
    text: Said;
    field?: string;
}

// The keys of a job that a plan sets.
export interface Settings {
    [key: string]: string | number | boolean;
}

export interface Change extends Brief {
    set: Settings;
    label: Said;
    touches: Said;
    saved_bytes: number;
}

export interface Stage {
    layers: number;
    embedding: boolean;
    head: boolean;
    in_flight: number;
    bytes: number;
    share: number;
    static_bytes: number;
    groups: { [id: string]: number };
}

export type PassKind = 'F' | 'B' | 'W';

// One entry per operation of the stage shown.
export interface Curve {
    micro_batches: number;
    cut: boolean;
    start: number[];
    end: number[];
    bytes: number[];
    after: number[];
    kind: PassKind[];
    micro_batch: number[];
    chunk: number[];
}

// Operations drawn, one entry each, in the order in which the stage runs them.
export interface TimelineStage {
    busy_seconds: number;
    idle_seconds: number;
    idle_share: number;
    start: number[];
    end: number[];
    kind: PassKind[];
    micro_batch: number[];
    chunk: number[];
}

export interface Timeline {
    schedule: { id: string } & Worded;
    chunks: number;
    all_micro_batches: number;
    makespan_seconds: number;
    bubble_share: number;
    slowest_stage: number;
    equally_slow: number;
    micro_batches: number;
    cut: boolean;
    drawn_seconds: number;
    stages: TimelineStage[];
}

export interface TimelineAnswer {
    ok: true;
    job: { [key: string]: Json };
    basis: Said;
    note: Said;
    timeline: Timeline | null;
}

export interface Host {
    bytes_per_gpu: number;
    bytes_per_node: number;
    pcie_bytes_per_step: number;
}

export interface Comparison extends Omit<Brief, 'step_seconds'> {
    method: string;
    label?: Said | undefined;
    rows: ({ id: string; bytes: number; other_bytes: number; why?: Said } & Worded)[];
}

export interface Estimate extends Omit<Brief, 'step_seconds'> {
    ok: true;
    job: { [key: string]: Json };
    auto: string[];
    model: { label: string; parameters: number; config: { [key: string]: Json } };
    gpu: { id: string; label: string; memory_gib: number };
    method: Method;
    data_parallel: number;
    micro_batches: number;
    padded_vocabulary: number;
    reserved_bytes: number;
    whole_bytes: number;
    card_bytes: number;
    line_share: number;
    verdict: Said;
    verdict_basis: Said;
    outside: Item[];
    stage: number;
    worst_stage: number;
    worst_why: Said;
    groups: Group[];
    stages: Stage[];
    curve: Curve | null;
    time: Time;
    host: Host | null;
    comparison: Comparison;
    equally_good: { count: number; width: number }; // plans that the estimate cannot tell apart, this one among them
    used: Note[];
    assumed: Note[];
    not_counted: Note[];
    warnings: Problem[];
}

// What other plans would come to: each field's neighbours, single changes, everything on "auto".
export interface Alternatives {
    ok: true;
    job: { [key: string]: Json };
    changes: Change[];
    knobs: Knob[];
    auto_plan: ({ set: Settings } & Brief) | null;
}
export interface Refusal {
    ok: false;
    problems: Problem[];
}

// The fastest plan on one number of GPUs; no entry where nothing fits.
export interface Size {
    gpus: number;
    entry: number | null;
    efficiency: number | null; // speed per GPU, relative to the smallest number on which a plan fits
    run: Run | null;
}

export interface SearchSummary {
    ok: true;
    job: { [key: string]: Json };
    gpu_counts: number[];
    card_bytes: number;
    line_share: number;
    candidates: number;
    legal: number;
    fits: number;
    at_risk: number;
    does_not_fit: number;
    rejected: { rule: string; count: number }[];
    auto: { gpus: number; row: number }[];
    sizes: Size[];
}

export interface SearchColumns {
    row: Int32Array;
    gpus: Int32Array;
    tensor_parallel: Int32Array;
    context_parallel: Int32Array;
    pipeline_parallel: Int32Array;
    micro_batch: Int32Array;
    data_parallel: Int32Array;
    expert_parallel: Int32Array;
    total_bytes: Float64Array;
    share: Float64Array;
    step_seconds: Float64Array;
    tokens_per_s: Float64Array;
    tokens_per_s_per_gpu: Float64Array;
    class: Uint8Array;
}

// The keys of a job that a ranked plan sets.
export const RANKED_KEYS = [
    'tensor_parallel',
    'pipeline_parallel',
    'context_parallel',
    'micro_batch',
    'expert_parallel',
    'expert_tensor_parallel',
    'virtual_stages',
    'schedule',
    'layout',
    'recompute',
    'recompute_layers',
    'zero',
    'moments',
    'sequence_parallel',
] as const;
export type RankedKey = (typeof RANKED_KEYS)[number];
export interface RankedPlan extends Record<RankedKey, string | number | boolean> {
    data_parallel: number;
    total_bytes: number;
    share: number;
    class: Fit;
    probability: number | null;
    step_seconds: number;
    tokens_per_s: number;
    tie: number; // plans of one group are equally fast, as far as the estimate can tell; 0 first
}
export interface Ranked {
    ok: true;
    gpus: number;
    candidates: number;
    legal: number; // slower + filtered + ranked + does_not_fit
    slower: number; // a lower bound of their time keeps them out of the list; nobody looked at their memory
    filtered: number;
    ranked: number;
    does_not_fit: number;
    equally_good: number; // so many of the first rows are as fast as the fastest, as far as the estimate can tell
    tie_width: number; // share of a step
    rejected: { rule: string; count: number }[];
    choices: { [key: string]: (string | number | boolean)[] };
    excluding: string[];
    plans: { [key in keyof RankedPlan]?: RankedPlan[key][] };
    front: number[];
    closest: RankedPlan | null;
}

export interface Side extends Brief {
    ok: true;
    job: { [key: string]: Json };
    data_parallel: number;
    card_bytes: number;
}
export interface Versus {
    ok: true;
    plan: Side;
    other: Side | Refusal;
    outcome: 'breaks_rule' | 'does_not_fit' | 'slower' | 'faster' | 'as_fast';
    seconds?: number;
    seconds_share?: number;
    bytes?: number;
    time?: ({ id: string; kind: TimeKind; seconds: number } & Worded)[];
    memory?: ({ id: string; bytes: number } & Worded)[];
}

// Everything of a plan that can be chosen, with its value.
export type WholePlan = Record<RankedKey, string | number | boolean> & { data_parallel: number };

// A number and the fastest plan that fits there.
export type FewestGpus = Brief & { gpus: number; plan: WholePlan };
export type InTime = FewestGpus & Omit<Run, 'steps' | 'energy_kwh'> & { safe_gpus: number | null };
export type Largest = Brief & { value: number; plan: WholePlan; limited_by: 'memory' | 'rules' | 'range'; note: Said };
export type ModelHere = { id: string; label: string; parameters: number; fits: boolean } & (({ plan: WholePlan } & Brief) | { plan: null });

export interface Limits {
    ok: true;
    job: { [key: string]: Json };
    days: number;
    fewest_gpus: FewestGpus | null;
    fewest_in_time: InTime | null;
    largest_micro_batch: Largest | null;
    largest_batch: Largest | null;
    largest_sequence: Largest | null;
    models: ModelHere[];
    searched: { from_gpus: number; to_gpus: number; note: Said };
}

export interface CalibrationRow {
    name: string;
    step_seconds: number;
    estimated_seconds: number;
    ratio: number;
    after_seconds: number;
    after_ratio: number;
    outlier: boolean;
    plan: Record<Degree | 'gpus' | 'sequence_length' | 'global_batch' | 'expert_parallel', number>;
}
export interface CalibrationErrors {
    mean_error: number;
    worst_error: number;
}
interface CalibrationHelp {
    text: { header: string; line: string };
    remove: { [key: string]: string | number };
}
export interface Calibration extends CalibrationHelp {
    ok: true;
    rows: CalibrationRow[];
    usable: number;
    kind: 'none' | 'factor' | 'site';
    why: Said;
    set: { [key: string]: string | number };
    not_identifiable: string[];
    before: CalibrationErrors | null;
    after: CalibrationErrors | null;
    warnings: Problem[];
}
export type Calibrated = Calibration | (Refusal & Partial<CalibrationHelp>);

// Measured links between nodes, or between single GPUs; row = sender, column = receiver.
export type Links = ({ nodes: string[] } | { gpus: string[] }) & { gbyte_per_s: number[][]; latency_us?: number[][] };
export type LinksUnit = 'gbyte_per_s' | 'gbit_per_s' | 'mbyte_per_s' | 'mbit_per_s' | 'byte_per_s' | 'gibyte_per_s' | 'mibyte_per_s';
export type LinksFormat = 'json' | 'pipette' | 'matrix' | 'nccl_tests' | 'osu' | 'mpigraph';
export interface SlowLink {
    from: string;
    to: string;
    gbyte_per_s: number;
    share_of_median: number;
}
export interface LinksRead {
    ok: true;
    format: { id: LinksFormat } & Worded;
    unit: LinksUnit;
    unit_source: Said;
    links: Links;
    symmetric: boolean;
    asymmetry: number;
    missing: [string, string][];
    missing_count: number;
    slow: SlowLink[];
    median_gbyte_per_s: number;
    lowest: number;
    highest: number;
    notes: Said[];
}

// What a reader says of a text; "auto": nothing.
export interface LinksSaid {
    unit: string; // an id, as in LinksUnit
    units: string; // "nodes" or "gpus"
}
// As the page keeps it: a matrix of a thousand nodes has a million numbers, so that it crosses as columns.
export interface LinkColumns {
    names: string[];
    gpus: boolean; // its units are GPUs instead of nodes
    rates: Float64Array; // GB/s, row = sender; NaN on the diagonal
    latencies: Float64Array | null; // µs
}
export type Measured = Omit<LinksRead, 'links'> & LinkColumns;

// A node (or GPU) that differs from what the profile says. What the reader typed and is no number stays text: the core says what is wrong.
export interface UnitSaid {
    name: string;
    speed?: number | string; // 1 = as the profile says
    memory_gib?: number | string; // of each of its GPUs
}

export interface PlaceProgress {
    moves: number;
    best_seconds: number;
    default_seconds: number;
    index: number; // of the candidate
    placement: number[] | null; // of the best, when it is a new one
}
export interface PlacedAt {
    position: number;
    unit: number;
    name: string;
    stages: [first: number, last: number];
    data_ranks: [first: number, last: number];
}
export interface PacingLink {
    from: number; // units
    to: number;
    positions: [from: number, to: number];
    stage: number;
    gbyte_per_s: number;
}
// The pipeline and the ring that set the pace.
export interface Binds {
    pipeline: { pipeline: number; seconds: number; links: PacingLink[] } | null;
    ring: { stage: number; seconds: number; link: PacingLink } | null;
}
export interface PlaceFile {
    id: string;
    name: string;
    text: string;
    how: Said;
}
export interface RankedPlacement {
    index: number;
    default_seconds: number;
    best_seconds: number;
    fits: boolean;
}
export interface Placed {
    ok: true;
    job: { [key: string]: Json };
    objective: { id: string } & Worded;
    units: 'nodes' | 'gpus';
    default_seconds: number;
    best_seconds: number;
    gain_share: number;
    low_gain_share: number;
    high_gain_share: number;
    basis: Said;
    nothing_to_gain: boolean;
    finding: Said;
    placement: number[];
    positions: PlacedAt[];
    spare: number[];
    moves: number;
    moves_accepted: number;
    restarts: number;
    stopped: boolean;
    moves_per_s?: number; // added by the worker: once the measurement was read
    curve: [number, number][];
    critical: { default: Binds; best: Binds };
    files: PlaceFile[];
    warnings: Problem[];
    suggestion: { set: { [key: string]: string | number | boolean }; label: Said; seconds: number } | null;
    ranked: RankedPlacement[];
}

// What the WebAssembly module gives to JavaScript.
export interface Fourfold {
    catalog(): string;
    import_config(text: string): string;
    estimate(text: string): string;
    timeline(text: string): string;
    alternatives(text: string): string;
    rank(text: string): string;
    versus(text: string): string;
    calibrate(text: string): string;
    read_links(text: string): string;
    search(text: string): { summary: string; columns: SearchColumns };
    limits(text: string): string;
    place(text: string, goOn: (progress: string) => boolean, rates: Float64Array | null, latencies: Float64Array | null): string;
}

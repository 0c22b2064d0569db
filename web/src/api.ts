// The contract of core/api.h as types; nothing here exists at run time. What each member means is said there, once.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Problem {
    field: string;
    rule: string;
    value: Json;
    message: string;
    suggestion: string;
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

export interface Method {
    id: string;
    label: string;
    summary: string;
    source: Source;
    limits: string[];
}

export interface Choice {
    id: string;
    label: string;
    help: string;
}

interface FieldBase {
    key: string;
    link: string;
    label: string;
    help: string;
    unit: string;
}
export interface IntegerField extends FieldBase {
    type: 'integer';
    default: number | 'auto';
    min: number;
    max: number;
    auto: boolean;
}
export interface BooleanField extends FieldBase {
    type: 'boolean';
    default: boolean;
}
export interface ChoiceField extends FieldBase {
    type: 'choice';
    default: string;
    choices: Choice[];
}
export interface TextField extends FieldBase {
    type: 'text';
    default: string;
}
export type Field = IntegerField | BooleanField | ChoiceField | TextField;

export interface Catalog {
    version: number;
    gpus: Gpu[];
    clusters: Cluster[];
    models: CatalogModel[];
    methods: Method[];
    fields: Field[];
    rules: { id: string; label: string }[];
}

export type Imported =
    | {
          ok: true;
          model: { [key: string]: Json };
          label: string;
          parameters: number;
          used: string[];
          ignored: string[];
          assumed: { key: string; value: Json; why: string }[];
      }
    | { ok: false; problems: Problem[] };

export type Fit = 'fits' | 'at_risk' | 'does_not_fit';
export type Degree = 'tensor_parallel' | 'context_parallel' | 'pipeline_parallel' | 'micro_batch';

export type Token = string | number | { symbol: string };

export interface Where {
    symbol: string;
    meaning: string;
    unit: string;
    value: number;
    formula: Token[] | null;
    numbers: Token[] | null;
}

export interface Item {
    id: string;
    label: string;
    summary: string;
    bytes: number;
    share: number;
    formula: Token[];
    numbers: Token[];
    latex: string;
    latex_numbers: string;
    where: Where[];
    source: Source & { where: string };
}

export interface Group {
    id: string;
    label: string;
    summary: string;
    bytes: number;
    share: number;
    items: Item[];
}

export interface KnobOption {
    value: number;
    legal: boolean;
    total_bytes?: number;
    share?: number;
    class?: Fit;
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
    text: string;
    field?: string;
}

export interface AutoPlan extends Record<Degree, number> {
    total_bytes: number;
    share: number;
    class: Fit;
}

export interface Estimate {
    ok: true;
    job: { [key: string]: Json };
    auto: string[];
    model: { label: string; parameters: number };
    gpu: { id: string; label: string; memory_gib: number };
    data_parallel: number;
    micro_batches: number;
    padded_vocabulary: number;
    total_bytes: number;
    card_bytes: number;
    share: number;
    class: Fit;
    line_share: number;
    groups: Group[];
    used: Note[];
    assumed: Note[];
    not_counted: Note[];
    warnings: Problem[];
    knobs: Knob[];
    auto_plan: AutoPlan | null;
}
export interface Refusal {
    ok: false;
    problems: Problem[];
}

export interface SearchSummary {
    ok: true;
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
}

export interface SearchColumns {
    row: Int32Array;
    gpus: Int32Array;
    tensor_parallel: Int32Array;
    context_parallel: Int32Array;
    pipeline_parallel: Int32Array;
    micro_batch: Int32Array;
    data_parallel: Int32Array;
    total_bytes: Float64Array;
    share: Float64Array;
    class: Uint8Array;
}

// What the WebAssembly module gives to JavaScript.
export interface Fourfold {
    catalog(): string;
    import_config(text: string): string;
    estimate(text: string): string;
    search(text: string): { summary: string; columns: SearchColumns };
}

// Every text of the page that does not come from the core. Texts with numbers are functions: another language orders its words as it likes.
import type { Degree, Fit, TimeKind } from '../api';

export const plural = (count: number, one: string, many: string): string => (count === 1 ? one : many);

export const en = {
    name: 'Fourfold',
    description:
        'Will this LLM training run fit into GPU memory? One plain sentence, every number explained, computed in your browser. Nothing you type leaves the page.',
    skip: 'Skip to the answer',
    nav: { label: 'Sections', check: 'Check', best: 'Best', gpus: 'How many GPUs', plans: 'All plans', how: 'How it works' },
    theme: { auto: 'auto', light: 'light', dark: 'dark', change: (now: string) => `Colours: ${now}. Change.` },

    form: {
        label: 'The training run',
        train: 'Train',
        on: 'on',
        with: 'with',
        afterSequence: '-token sequences,',
        afterBatch: 'per batch.',
        gpusTimes: '×',
        model: 'Model',
        gpus: 'Number of GPUs',
        gpu: 'GPU',
        sequence: 'Sequence length in tokens',
        batch: 'Sequences per batch',
        arrows: 'The up and down arrow keys double and halve it.',
        arrowsTenth: 'The up and down arrow keys change it by 0.1.',
        paste: 'Paste a config.json…',
        pasteHelp: 'any Llama-like model from its Hugging Face file',
        editConfig: 'Look at the pasted config',
        noMatch: 'No such model here. Paste its config.json instead.',
        parameters: (count: string) => `${count} parameters`,
        ownModel: 'Your model',
        unknownGpu: (id: string) => `${id} (unknown)`,
    },

    verdict: {
        fits: 'It fits.',
        at_risk: 'At risk.',
        does_not_fit: 'It does not fit.',
        cannot: 'Cannot work.',
        unreadable: 'Not clear yet.',
    },
    word: { fits: 'fits', at_risk: 'at risk', does_not_fit: 'does not fit' } satisfies Record<Fit, string>,
    answer: {
        label: 'The answer',
        fullest: (used: string, card: string, percent: string) => `The fullest GPU holds ${used} of ${card}\u00a0GB (${percent}).`,
        needs: (used: string, card: string) => `The fullest GPU would need ${used}\u00a0GB, and it has ${card}.`,
        tooClose: (used: string, card: string, percent: string) =>
            `The fullest GPU would hold ${used} of ${card}\u00a0GB (${percent}), too close to full.`,
        noPlan: (gpus: string) => `No split over ${gpus} of these GPUs holds it.`,
        otherPlan: 'The split below is too large; another one may fit.',
        meters: (allocated: string, reserved: string, whole: string) =>
            `${allocated}\u00a0GB handed out by PyTorch, ${reserved}\u00a0GB reserved, about ${whole}\u00a0GB of the card in use with NCCL and CUDA.`,
        sentence: (run: string, fit: Fit, numbers: string) =>
            `${run} ${{ fits: 'fits', at_risk: 'is at risk', does_not_fit: 'does not fit' }[fit]}: ${numbers}.`,
        cannotSentence: (run: string, why: string) => `${run} cannot work: ${why}`,
        run: (model: string, gpus: string, gpu: string, tokens: string) =>
            `${model} on ${gpus}\u00a0×\u00a0${gpu} with ${tokens}-token sequences`,
        numbers: (used: string, card: string, percent: string) => `${used} of ${card}\u00a0GB (${percent})`,
        autoChip: 'chosen for you',
        yoursChip: 'your plan',
        mixedChip: 'partly yours',
        why: 'Why this plan?',
        whyText:
            'What you leave on “auto” is chosen by one rule: of all plans that fit, the one whose step is the shortest. Of equally fast ones, the smallest split of the model (tensor × context × pipeline). When nothing fits, the plan that needs least memory is shown.',
        share: 'Share',
        shared: 'Link copied',
        shareFailed: 'Copy the address bar',
        stale: 'From the last run that could be worked out',
        late: 'Still computing; this is the previous answer.',
    },
    time: {
        takes: (time: string, speed: string, band: string) => `One step takes ${time} (${speed}\u00a0tokens/s), give or take ${band}.`,
        wouldTake: (time: string, speed: string, band: string) =>
            `One step would take ${time} (${speed}\u00a0tokens/s), give or take ${band}.`,
        run: (tokens: string, time: string, low: string, high: string) => `${tokens}\u00a0tokens: ${time}, between ${low} and ${high}.`,
        cost: (cost: string) => `Cost: ${cost}.`,
        energy: (energy: string) => `Energy: ${energy}.`,
        aStep: (change: string) => `${change} a step`,
        label: 'Time of a step',
        finding: (kind: string, percent: string) => `${kind} takes ${percent} of a step`,
        part: (label: string, time: string, percent: string) => `${label}: ${time}, ${percent} of a step. Show what is in it.`,
        kind: {
            compute: 'Computing',
            tensor: 'Tensor-parallel traffic',
            context: 'Context-parallel traffic',
            pipeline: 'Pipeline traffic',
            data: 'Data-parallel traffic',
            bubble: 'Waiting for other stages',
            other: 'Everything else',
        } satisfies Record<TimeKind, string>,
        short: {
            compute: 'Computing',
            tensor: 'Tensor traffic',
            context: 'Context traffic',
            pipeline: 'Pipeline traffic',
            data: 'Data traffic',
            bubble: 'Waiting',
            other: 'Other',
        } satisfies Record<TimeKind, string>,
        table: 'Where the time goes',
        rates: (mfu: string, tflop: string, tokens: string) =>
            `${mfu} of the GPU’s peak (MFU), ${tflop}\u00a0TFLOP/s and ${tokens}\u00a0tokens/s per GPU`,
        budget: 'How long, how much?',
        budgetOf: (tokens: string) => `${tokens} tokens`,
    },
    changes: {
        title: 'Change this first',
        save: 'Save memory',
        gpus: (gpus: string) => `Use ${gpus} GPUs`,
        gpusTouch: 'The fewest with which some plan fits.',
    },
    method: {
        title: 'How it is counted',
        other: (used: string, fit: string) => `${used}\u00a0GB, ${fit}`,
        limits: 'What it is known not to count',
    },
    outside: {
        label: 'Outside the allocator',
        summary: 'On the card, but not handed out by PyTorch: torch.cuda.max_memory_allocated() does not see it, nvidia-smi does.',
    },
    stage: { name: (stage: string) => `Stage ${stage}` },
    problems: {
        others: (count: number) => plural(count, 'One more thing stands against it', `${count} more things stand against it`),
        use: (label: string, value: string) => `Set ${label} to ${value}`,
        goTo: (label: string) => `Change ${label}`,
        warning: 'Note',
    },

    bar: {
        label: 'Memory of the fullest GPU',
        finding: (label: string, used: string, total: string) => `${label} take the most: ${used} of ${total}\u00a0GB`,
        findingOne: (label: string, used: string, total: string) =>
            `The ${label.toLowerCase()} takes the most: ${used} of ${total}\u00a0GB`,
        stage: (stage: string) => `Memory of stage ${stage}`,
        hint: 'Choose a part to see its formula.',
        part: (label: string, used: string, percent: string) => `${label} ${used} GB, ${percent} of the card. Show the formula.`,
        free: 'free',
        line: (percent: string) => `the paper’s ${percent} line`,
        card: (size: string) => `${size}\u00a0GB card`,
        over: 'beyond the card',
    },

    items: {
        title: 'What fills it',
        titleStage: (stage: string) => `What fills stage ${stage}`,
        gib: 'GiB',
        share: 'of the card',
        bytes: 'bytes',
        total: (card: string) => `In all, of ${card}\u00a0GiB`,
        allocated: (card: string) => `Handed out by PyTorch, of ${card}\u00a0GiB`,
        whole: 'On the card, as nvidia-smi shows it',
        host: (node: string, gpu: string, traffic: string) =>
            `The optimizer’s part in host memory: ${node}\u00a0GB on every node (${gpu}\u00a0GB per GPU). ${traffic}\u00a0GB cross PCIe per GPU and step.`,
        showBytes: 'Exact bytes',
        copy: 'Copy table',
        copied: 'Copied',
        copyFailed: 'The clipboard is closed',
        footnote: 'GB is the card’s own name for its size. It is counted in units of 2³⁰ bytes (GiB) throughout, as the cited paper does.',
    },
    later: {
        curve: 'Memory over the step',
        methods: 'Two methods',
        calibrate: 'Calibrate with your own runs',
        calibrated: 'in use',
        both: (here: string, method: string, there: string, other: string) => `${here}\u00a0GB by “${method}”, ${there} by “${other}”`,
        coming: 'One moment…',
        failed: 'This part of the page could not be fetched. Reload the page to try again.',
    },
    notes: {
        used: 'Taken from your input',
        assumed: 'Assumed',
        not_counted: 'Not counted',
        change: 'change',
    },

    adjust: {
        title: 'Adjust the plan',
        intro: 'Every button says what it would do to the memory of the fullest GPU and to the time of a step.',
        auto: 'auto',
        reset: 'reset',
        backToAuto: (label: string) => `${label}: reset to auto`,
        ownValue: (label: string) => `${label}: a value of your own, or “auto”`,
        best: (plan: string, used: string, fit: string, time: string) => `Suggested: ${plan} (${used}\u00a0GB, ${fit}; ${time} a step)`,
        now: 'now',
        notPossible: 'not possible',
        option: (label: string, value: string, effect: string, more: string) => `${label} ${value}: ${effect}, ${more}`,
        change: (change: string) => `${change}\u00a0GB`,
        help: {
            tensor_parallel: (value: string) => `every layer is split over ${value}`,
            pipeline_parallel: (value: string) => `the stack of layers is cut into ${value}`,
            context_parallel: (value: string) => `every sequence is split over ${value}`,
            micro_batch: (value: string) => `${value} at a time on every GPU`,
        } satisfies Record<Degree, (value: string) => string>,
        data: 'Data parallel (DP)',
        dataHelp: 'copies of the model, each working on its share of the batch; it follows from the rest',
        dataIs: (gpus: string, tp: string, cp: string, pp: string, dp: string) => `${gpus} / (${tp} × ${cp} × ${pp}) = ${dp}`,
        microBatches: (count: string) => `Each copy works through ${count} ${count === '1' ? 'micro-batch' : 'micro-batches'} per step.`,
        more: 'More settings',
        changed: (count: number) => `${count} changed`,
        wrong: 'does not work as it is',
        cluster: 'Cluster',
        clusterHelp: 'A known machine: it sets the number of GPUs per node.',
        noCluster: 'none',
    },
    options: {
        cluster: 'Machine',
        pipeline: 'Pipeline',
        sharding: 'Sharding',
        recompute: 'Recomputation',
        traffic: 'Traffic and overlap',
        formats: 'Number formats',
        experts: 'Experts',
        kernels: 'Kernels and framework',
    },
    unit: (count: number, unit: string) => (count === 1 ? unit.replace(/s$/, '') : unit),
    short: {
        tensor_parallel: 'tensor',
        context_parallel: 'context',
        pipeline_parallel: 'pipeline',
        data_parallel: 'data',
        expert_parallel: 'experts over',
        micro_batch: 'micro-batch',
    },
    letters: { tensor_parallel: 'TP', context_parallel: 'CP', pipeline_parallel: 'PP', micro_batch: 'MB' } satisfies Record<Degree, string>,

    heat: {
        title: 'All plans, by number of GPUs',
        loading: 'The plans are being worked out…',
        notYet: 'The plans appear here as soon as the run above is clear.',
    },

    notices: {
        unknown: (keys: string) => `The link has parts that this page does not know and has left out: ${keys}.`,
        newer: () => 'This link was made by a newer version of the page; some of it may be missing here.',
        crash: (reason: string) => `The calculation stopped unexpectedly and was started again (${reason}).`,
        too_large: (size: string) => `This is ${size} MB. A config.json has a few KB; more than 1 MB is not read.`,
        missing: () => en.later.failed,
        dismiss: 'Dismiss',
        failed: 'The calculation could not be started. The page needs WebAssembly, and its files must all be there.',
    },

    how: {
        title: 'How it works',
        paragraphs: [
            [
                'What is computed',
                'Training a language model fills a GPU with four things: the weights, one gradient per weight, what the optimizer remembers of each weight, and the activations, the intermediate values that the backward pass needs again. Buffers, the loss and the libraries take the rest. Four ways of splitting the work share them out: tensor parallel (TP) cuts every layer, pipeline parallel (PP) cuts the stack of layers, context parallel (CP) cuts every sequence, and data parallel (DP) gives every copy of the model its share of the batch. Fourfold works out, item by item, how many bytes that leaves on the fullest GPU at the worst moment of a step.',
            ],
            [
                'What the verdict means',
                'The whole card counts: what PyTorch hands out, what it reserves besides, and what NCCL and CUDA take. Of runs with such an estimate, at least 95 in 100 did not run out of memory: it fits. At most 2 in 100: it does not fit. Between, it is at risk. By the method of Fujii et al. the paper’s own rule decides instead: an estimate up to 80 % of the card fits, up to 100 % it is at risk.',
            ],
            [
                'How long a step takes',
                'A step is played on the stage that sets the pace: the matrix multiplications, attention and smaller work of its layers, the traffic that no work hides, the wait while the pipeline fills and drains, and what happens once per step. Every part shows its formula. The band says between which times nine of ten measured runs lie.',
            ],
            [
                'What happens to what you type',
                'Everything is computed in this tab, by the same code for the sentence, the bar and every formula shown. Nothing you type leaves the page, and no other server is asked for anything. The address bar holds the whole run: copy it to share it.',
            ],
        ] as readonly (readonly [string, string])[],
        limits: (method: string) => `What “${method}” is known not to count`,
        sources: 'Sources',
        gpuSource: (gpu: string) => `Sizes of the ${gpu}`,
        modelSource: (model: string) => `Shape of ${model}`,
    },
    footer: {
        privacy: 'Nothing you type leaves this page.',
        formulas: 'Formulas:',
    },
    noscript:
        'The answer above is an example, worked out when this page was built. To work out your own run the page needs JavaScript and WebAssembly; nothing you type leaves it.',
};

export type Strings = typeof en;

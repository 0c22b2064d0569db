// The words of the page that these tests know: here and nowhere else, by the room that says them. A text that is reworded changes a line
// here; what can be found by its id, role or class is not in this table. Spaces are plain ones: a no-break space is read as one.
export const words = {
    // Fields, by their labels where nothing else tells them apart
    tensor: 'Tensor parallel (TP)',
    recompute: 'Recompute activations',
    offload: 'Optimizer in host memory',

    // Parts that come when they are opened
    timeTable: 'Where the time goes',
    curve: 'Memory over the step',
    methods: 'Two methods',
    calibrate: 'Calibrate with your own runs',
    nothingSent: /Nothing has been sent yet\..* sends the following to git\.example, and nothing else/,
    nearRuns: /measured runs? like this one tells? the time of a step: the estimate was off by .*%|^No measured run is near this one\. The nearest is .+: .+\.$/,

    // Links
    newerLink: /newer version/,
    noFile: /a file of the page could not be loaded/,
    widened: /also chooses recomputation, chunks per GPU and layers per stage/,

    // The answer
    used: (used, card) => `${used} of its ${card} GB`,
    fits: 'fits',
    yours: 'your plan',
    chosen: 'chosen for you',
    expertsOver: /experts of each layer over (\d+)/,
    moreGpus: /^\s*Use .* GPUs/,
    equallyFast: 'equally fast',
    tie: (count) => `${count} plans are equally fast`,
    changeThatFits: /−([\d.]+)\s?GB, (?:[−+][\d.]+\s?\S+ a step|equally fast) fits/,
    hostMemory: /host memory: [\d,.]+ GB on every node .*between GPU and host/,
    timeIn: /takes (.*) \(/,
    wouldTake: /^One step would take /,
    takesBetween: /^One step takes [^,]* \([\d,]+ tokens\/s\), or anything from .+ to .+\.$/,
    costAndEnergy: /It costs about [\d,]+ at .* In your currency\. It uses [\d.]+ MWh /,

    // Stages and the curve
    peakOfBackward: /^Peak of 4\d\.\d GB allocated in the backward pass of micro-batch 1$/,
    forwardOf: (microBatch) => new RegExp(`^Forward pass of micro-batch ${microBatch}: [\\d.]+\\s?GB$`),
    curveCut: 'Those in the middle, which are left out, repeat this pattern',

    // The list of plans
    nextPlan: /The next plan, .*, takes [\d.]+ m?s \([\d.]+ %\) longer|Both need the same memory\./,
    listIsPart: /^[\d,]+ plans fit\. Here are 2\d\d of them: the fastest/,
    filtered: 'With these filters, the best plan that fits: ',
    allRecomputed: 'all layers recomputed',
    funnel: /^Of [\d,]+ combinations, [\d,]+ keep all rules: .*[\d,]+ do not fit,? [^.]*[\d,]+ fit\./,
    funnelFiltered: /[\d,]+ do not pass the filters, [^.]*[\d,]+ do not fit/,
    memoryAtMost: (gb) => `memory at most ${gb} GB`,
    closest: /^With these filters, no plan fits on 64 GPUs\. The plan closest to fitting, .* would need [\d.]+ GB/,
    leftOut: ['zero-bubble', '16-bit'],
    slowerOrAsFast: /^tensor 8 · pipeline 2 .* more than the first: |^You can use it: tensor 8 · pipeline 2 /,
    tooLarge: /too much to run without great risk/,
    impossibleSplit: /^It cannot work\. The 64 attention heads cannot be shared evenly among 3/,
    noWholeNumber: /must be a whole number/,
    cellOfSpeed: /^8 GPUs: [\d,.]+ tokens\/s per GPU, fits, the plan above, suggested$/,

    // Numbers of GPUs and limits
    sweepHeads: /Step Tokens\/s Efficiency Whole run GPU-hours Cost$/,
    gpus: (count) => `${count} GPUs`,
    tokens: (count) => `${count} tokens`,

    // The timeline
    pace: (stage) => new RegExp(`^Stages wait \\d+ % of the pipeline’s time on average; stage ${stage} is the slowest$`),
    passOf: (stage, kind, microBatch) =>
        new RegExp(
            `^Stage ${stage}, ${{ F: 'forward', B: 'backward' }[kind]} pass of micro-batch ${microBatch}: [\\d,.]+ to [\\d,.]+\\s\\w+`,
        ),
    thenWaits: (stage) => new RegExp(`^Stage ${stage}, forward pass of micro-batch \\d: .* of waiting$`),
    waits: (stage) => new RegExp(`^Stage ${stage}, waiting: [\\d.]+ to [\\d.,]+ (ms|s)$`),
    firstPass: /^forward 1 1 /,

    // Pinned plans
    planShown: 'The plan shown',
    shownNow: 'the plan shown',
    pin: (number) => `Pin ${number}`,
    best: 'best',
    bestOfBoth: (number) => new RegExp(`^Shortest step \\(.*\\) and least memory \\([\\d.]+ GB\\): Pin ${number}\\.$`),
    costsOfSix: /^Cost \$?[\d,]+ .*best/,
    row: {
        verdict: 'Verdict',
        memory: 'On the fullest GPU',
        step: 'One step',
        cost: 'Cost',
        same: ['Precision', 'Sequence', 'Model'],
        ofRun: ['GPU-hours', 'Energy', 'Tokens to train on', 'Recompute activations', 'Share of the GPU’s peak'],
    },

    // The reader's own runs
    calibrated: /^With the calibration, your runs differ from the estimate by .* on average, without it by/,
    oneRun: /A single run never changes the estimate/,

    // Placement
    slowLinks: /^2 of 56 links are slower than half the median; the slowest, node-3 to node-4, does 4\.1 GB/,
    wrongCell: /b to a|row 2/,
    whichUnit: /unit/i,
    useRates: 'Use these rates in every estimate',
    ratesUsed: 'Every estimate uses these rates',
    tooFewNodes: (needed, measured) => new RegExp(`This needs ${needed} nodes, but only ${measured} were measured\\.`),
    searchesAgree: /\d of \d+ searches found this placement[,;] .*by \d+ searches\.|by 1 search\./, // one alone on a machine that is very slow
    movesTried: /([\d.,]+)( million)? moves tried, .* a second\./,
    stopped: 'Stopped: this is the best so far.',
    leftOutNode: (name, speed) => new RegExp(`◆ ${name} \\(${speed}.% speed\\) is left out\\.`),
    unfitNode: (name) => new RegExp(`× The plan does not fit ${name}: its GPUs have too little memory`),
    slowNode: (name, speed) => new RegExp(`◆ ${name} \\(${speed}.% speed\\) works on stage \\d\\.`),
    smallNode: (name, gb) => new RegExp(`◆ ${name} \\(${gb}.GB per GPU\\) works on stage \\d\\.`),
    bothNode: (name, speed, gb) => new RegExp(`◆ ${name} \\(${speed}.% speed, ${gb}.GB per GPU\\)`),
    stepInsteadOf: /a step takes ([\d.]+) s instead of ([\d.]+) s\./,
    nothingToGain: /^Nothing to gain: all links are equally fast in their slower direction/,
};

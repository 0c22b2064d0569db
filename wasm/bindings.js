// The core's functions, as bindings.cpp exports them.
answersText('import_config', 'estimate', 'alternatives', 'timeline', 'limits', 'phases', 'pools', 'calibrate', 'rank', 'versus');

Module['catalog'] = (sources = true) => {
    _face_catalog(sources);
    return given.text;
};
Module['benchmark_estimates'] = (count) => _face_benchmark_estimates(count);
Module['search'] = (request) => {
    const { text, ...columns } = ask('search', request);
    return { summary: text, columns };
};

// Whether a search goes on; it is asked with the text of its progress.
let goesOn = null;

Module['place'] = (request, goOn = null, rates = null, latencies = null) => {
    goesOn = goOn;
    [rates, latencies].forEach((numbers, which) => {
        const start = _face_numbers(which, numbers ? numbers.length : 0);
        if (numbers) HEAPF64.set(numbers, start / HEAPF64.BYTES_PER_ELEMENT);
    });
    return ask('place', request).text;
};

// Runs before the first paint, as the strict Content-Security-Policy allows no inline code: the reader's colours, and, for a link to a
// particular run, hiding the finished example until that run's own answer is there.
(() => {
    const root = document.documentElement;
    try {
        const theme = localStorage.getItem('fourfold-theme');
        if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
    } catch {
        // Storage may be forbidden; the system's colours then.
    }
    if (location.search.length > 1) root.dataset.pending = '';
})();

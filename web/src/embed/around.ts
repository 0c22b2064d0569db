// Is a place in somebody's page light or dark? The background behind it says; where nothing has one, the page's colour scheme.
const HALF = 128; // of the lightest, 255

// "rgb(19, 21, 23)", "rgba(0, 0, 0, 0)"
function lightness(colour: string): number | null {
    const [red = 0, green = 0, blue = 0, alpha = 1] = colour.startsWith('rgb') ? (colour.match(/[\d.]+/g) ?? []).map(Number) : [0, 0, 0, 0];
    return alpha < 0.5 ? null : 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function themeAround(place: Element): 'light' | 'dark' {
    for (let element: Element | null = place; element; element = element.parentElement) {
        const light = lightness(getComputedStyle(element).backgroundColor);
        if (light !== null) return light < HALF ? 'dark' : 'light';
    }
    const scheme = getComputedStyle(place).colorScheme;
    const dark = /dark/.test(scheme) && (!/light/.test(scheme) || matchMedia('(prefers-color-scheme: dark)').matches);
    return dark ? 'dark' : 'light';
}

// Takes the place of boot/load.ts in the page of one file: module and example stand at the end of the page, under the names that the
// addresses end with.
export { whenWanted } from '../boot/load';

async function textIn(address: string): Promise<string> {
    if (document.readyState === 'loading') await new Promise((parsed) => addEventListener('DOMContentLoaded', parsed, { once: true }));
    return document.getElementById(new URL(address).hash.slice(1))?.textContent ?? '';
}

export const compileText = (base64: string): Promise<WebAssembly.Module> =>
    WebAssembly.compile(Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)));

export const compileModule = async (address: string): Promise<WebAssembly.Module> => compileText(await textIn(address));

export const fetchExample = async (address: string) => JSON.parse(await textIn(address));

// Beside the file lies nothing: the way home is the file itself.
addEventListener('click', (event) => {
    const home = event.target instanceof Element ? event.target.closest('a[href="./"]') : null;
    if (!home) return;
    event.preventDefault();
    location.assign(location.pathname);
});

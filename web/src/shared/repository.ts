// What the build knows of the page and writes into index.html (plugins/page.ts); '' where it does not.
const said = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';

// Where the page's sources are kept.
export const repository = (): string => said('repository');
export const version = (): string => said('version');

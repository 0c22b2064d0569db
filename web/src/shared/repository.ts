// Where the page's sources are kept, as the build knows it (plugins/page.ts writes it into index.html); '' where it does not.
export const repository = (): string => document.querySelector<HTMLMetaElement>('meta[name="repository"]')?.content ?? '';

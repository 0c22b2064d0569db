// What is shown, as a file.
import type { Page } from '../store/page';

export function saveFile(blob: Blob, name: string): void {
    const link = document.createElement('a');
    const address = URL.createObjectURL(blob);
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // the browser may ask where to put it
}

// "fourfold-llama-3.1-70b-64-h100-sxm-80gb"
export const fileName = ({ job }: Page): string =>
    ['fourfold', job.model, job.gpus, job.gpu]
        .join('-')
        .replace(/[^\w.-]+/g, '-')
        .slice(0, 80);

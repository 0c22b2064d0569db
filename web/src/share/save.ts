// A drawing of the page as a file: as it is, or as pixels.
import { saveFile } from '../shared/save-file';

const SVG = 'image/svg+xml';

export const textOfSvg = (svg: SVGSVGElement): string => new XMLSerializer().serializeToString(svg);

export const saveSvg = (svg: SVGSVGElement, name: string): void => saveFile(new Blob([textOfSvg(svg)], { type: SVG }), `${name}.svg`);

// The page's policy lets a picture come from a data address, not from a blob.
async function pixelsOf(svg: SVGSVGElement, width: number, height: number): Promise<Blob> {
    const image = new Image(width, height);
    image.src = `data:${SVG};charset=utf-8,${encodeURIComponent(textOfSvg(svg))}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width;
    canvas.height = height;
    canvas.getContext('2d')?.drawImage(image, 0, 0, width, height);
    return new Promise((resolve, reject) => {
        canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture'))), 'image/png');
    });
}

export async function savePng(svg: SVGSVGElement, name: string, width: number, height: number): Promise<void> {
    saveFile(await pixelsOf(svg, width, height), `${name}.png`);
}

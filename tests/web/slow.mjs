// A slow line and a slow processor for a page of Chromium, and what comes over that line.
const LINES = {
    none: null,
    slow4g: { offline: false, latency: 150, downloadThroughput: 1.6e6 / 8, uploadThroughput: 0.75e6 / 8, connectionType: 'cellular4g' },
};

// `transfers`: by request, when it began and ended, in milliseconds since the page was asked for, and its bytes on the line.
export async function slowDown(page, { network = 'slow4g', slower = 4 } = {}) {
    const session = await page.context().newCDPSession(page);
    const transfers = new Map();
    let began;
    session.on('Network.requestWillBeSent', ({ requestId, request, timestamp }) => {
        began ??= timestamp;
        transfers.set(requestId, { url: request.url, start: (timestamp - began) * 1000, bytes: 0 });
    });
    const ended = ({ requestId, timestamp, encodedDataLength = 0 }) => {
        const one = transfers.get(requestId);
        if (one) Object.assign(one, { end: (timestamp - began) * 1000, bytes: encodedDataLength });
    };
    session.on('Network.loadingFinished', ended);
    session.on('Network.loadingFailed', ended);
    await session.send('Network.enable');
    if (LINES[network]) await session.send('Network.emulateNetworkConditions', LINES[network]);
    if (slower > 1) await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
    return { session, transfers };
}

import { expect, test } from 'vitest';
import { answeredOf, goodOf } from '../shared/test-data';
import { show, spies } from '../shared/test-view';
import { LaterChanges, LaterGrounds, LaterTerms, LaterWhy } from './later';

test('what stands behind the answer comes by itself', async () => {
    const { page, answer } = answeredOf('does-not-fit');
    const alternatives = { ...goodOf('alternatives', 'alternatives-70b'), job: answer.job };
    const { text } = show(
        <>
            <LaterChanges page={{ ...page, alternatives }} answer={answer} act={spies()} />
            <LaterTerms page={page} answer={answer} />
            <LaterWhy page={page} answer={answer} />
            <LaterGrounds answer={answer} />
        </>,
    );
    await expect.poll(text).toMatch(/^Change this first .* tensor \d+ · .*A search compares all plans.* allocates/);
});

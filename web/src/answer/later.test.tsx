import { expect, test } from 'vitest';
import { answeredOf, goodOf, refusalOf } from '../shared/test-data';
import { show, spies } from '../shared/test-view';
import {
    LaterBesides,
    LaterBest,
    LaterChanges,
    LaterGrounds,
    LaterPinButton,
    LaterProblems,
    LaterTerms,
    LaterWarnings,
    LaterWhy,
} from './later';

test('what stands behind the answer comes by itself', async () => {
    const { page, answer } = answeredOf('does-not-fit');
    const alternatives = { ...goodOf('alternatives', 'alternatives-70b'), job: answer.job };
    const { problems } = refusalOf('broken-rules');
    const { text } = show(
        <>
            <LaterChanges page={{ ...page, alternatives }} answer={answer} act={spies()} />
            <LaterBest page={{ ...page, alternatives }} answer={answer} act={spies()} />
            <LaterTerms page={page} answer={answer} />
            <LaterWhy page={page} answer={answer} estimate={() => new Promise(() => {})} />
            <LaterGrounds answer={answer} depth="detail" />
            <LaterBesides page={page} answer={{ ...answer, job: { ...answer.job, time_runs: 3 } }} />
            <LaterWarnings answer={{ ...answer, warnings: problems }} />
            <LaterPinButton page={page} answer={answer} act={spies()} />
            <LaterProblems page={{ ...page, problems }} act={spies()} />
        </>,
    );
    await expect
        .poll(text)
        .toMatch(
            /^Change this first .*Best without your settings: .*tensor \d+ · .*A search compares all plans.* allocates .* 3 .*Note.* Pin this plan .*Set Tensor parallel/,
        );
});

from vendiscore import explain, read

answers = read("docs/tutorials/data/answers.csv").by_set()["people"].samples
explain(answers[:60], analyzer="char").plot()

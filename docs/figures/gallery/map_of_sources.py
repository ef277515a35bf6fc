from vendiscore import read, sources

answers = read("docs/tutorials/data/answers.csv")
sources(answers.samples, answers.prompts, by=answers.sets, analyzer="char").plot()
